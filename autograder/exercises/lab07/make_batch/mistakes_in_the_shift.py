"""Known mistakes in `shift_right`: most are edits of a right version."""

from __future__ import annotations

from attnlab.data.dates import EOS, PAD

from . import exercise
from .also_right import new_table

shifted = exercise.edits(new_table, of="shift_right")

shifted(
    "only_bos_written_over",
    "shifted[:, 1:] = target[:, :-1]",
    "shifted[:, 1:] = target[:, 1:]",
    "You write `bos` over the first symbol and move nothing, so at every later position the "
    "decoder reads the symbol that it must write. At which position should it read that symbol?",
)
shifted.several(
    "target_itself",
    {"shifted[:, 1:] = target[:, :-1]": "shifted[:] = target", "    shifted[:, 0] = bos\n": ""},
    "You return the target itself: the decoder reads every answer at the position of its "
    "question. What does it know when it must write the first symbol?",
)
shifted(
    "first_of_the_row_is_the_last",
    "    shifted[:, 0] = bos\n",
    "    shifted[:, 0] = target[:, -1]\n",
    "Your rows start with the last entry of the target (`roll` moves it there). What should the "
    "decoder read before it has written anything?",
)
shifted(
    "shifted_after_padding",
    "    shifted[:, 0] = bos\n",
    "",
    "Your rows start with 0, which is padding. Where do you use `bos`?",
)
shifted(
    "starts_with_the_dates_bos",
    "shifted[:, 0] = bos",
    "shifted[:, 0] = 1",
    "Your rows start with 1, whatever `bos` is. Is the argument used?",
)
shifted.several(
    "shifted_left",
    {"shifted[:, 1:] = target[:, :-1]": "shifted[:, :-1] = target[:, 1:]", "[:, 0]": "[:, -1]"},
    "You shift to the left: each position reads a symbol of the future. In which direction does "
    "the name of the function point?",
)
shifted(
    "shifted_with_bos_twice",
    "shifted[:, 0] = bos",
    "shifted[:, 0] = shifted[:, -1] = bos",
    "Your rows have `bos` at the end as well. How many times does a sentence start?",
)
shifted.several(
    "in_place",
    {
        "shifted = torch.zeros_like(target)": "shifted = target",
        "target[:, :-1]": "target[:, :-1].clone()",
    },
    "Your code shifts the target itself, which the loss still needs as labels. What makes a new "
    "tensor?",
)
shifted(
    "as_floats",
    "torch.zeros_like(target)",
    "torch.zeros(target.shape)",
    "Your inputs are floating-point numbers, and an embedding looks up whole numbers. Which dtype "
    "does `torch.zeros` make by default?",
)
shifted(
    "one_column_more",
    "return shifted",
    "return torch.cat((shifted, target[:, -1:]), 1)",
    "Your inputs have one column more than the labels. After which symbol does nothing have to be "
    "written?",
)
shifted(
    "rows_shifted",
    "shifted[:, 1:] = target[:, :-1]",
    "shifted[1:] = target[:-1]",
    "You shift along the batch: a row holds its neighbour's symbols. Which axis of (B, T) is time?",
)
shifted.several(
    "bos_in_the_first_row",
    {"shifted[:, 1:] = target[:, :-1]": "shifted[1:] = target[:-1]", "[:, 0] = bos": "[0] = bos"},
    "Your first *row* is all `bos`, and the other rows hold their neighbours' symbols. Which axis "
    "of (B, T) is time?",
)
shifted(
    "last_two_dropped",
    "return shifted",
    "return shifted[:, :-1]",
    "Your inputs have one column fewer than the labels. How many entries of a row does `bos` push "
    "out?",
)
shifted(
    "two_positions",
    "shifted[:, 1:] = target[:, :-1]",
    "shifted[:, 2:] = target[:, :-2]",
    "You shift by two positions, so the decoder never reads the symbol just before. By how many "
    "positions do inputs and labels differ?",
)


@exercise.mistake(
    "Your code treats the end of each row specially, so rows with padding come out wrong. Which "
    "entries does the task want after `bos`?",
    of="shift_right",
)
def end_of_the_symbols_dropped(target, bos):
    shifted = new_table(target, bos)
    return shifted.masked_fill(target == PAD, PAD).masked_fill(target == EOS, PAD)
