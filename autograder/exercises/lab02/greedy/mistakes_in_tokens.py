"""Wrong versions of greedy decoding that feed the cell something other than a tensor (B,)."""

from __future__ import annotations

from . import exercise
from .also_right import column_by_column

BOS = "torch.full((len(source),), bos)"
BEST = "logits.argmax(-1)"

wrong = exercise.edits(column_by_column)

for name, fed in (
    ("bos_as_an_int", "bos"),
    ("bos_in_a_list", "[bos] * len(source)"),
):
    wrong(
        name,
        BOS,
        fed,
        "Your first step feeds the cell a number or a list of Python, but its embedding takes a "
        "tensor. Which shape and dtype does `y_prev` have in 2.4?",
    )
for name, fed in (
    ("bos_as_a_column", "torch.full((len(source), 1), bos)"),
    ("bos_alone", "torch.tensor(bos)"),
    ("one_bos_for_all", "torch.tensor([bos])"),
    ("bos_for_each_word", "torch.full_like(source, bos)"),
    ("bos_as_floats", "torch.full((len(source),), float(bos))"),
):
    wrong(
        name,
        BOS,
        fed,
        "The tensor that your first step feeds to the cell is not of the kind of `y_prev` in 2.4, "
        "(B,) and int64. Which shape and dtype does your `bos` have there?",
    )
for name, best in (
    ("best_of_everything", "logits.argmax()"),
    ("axis_kept", "logits.argmax(-1, keepdim=True)"),
    ("logits_fed", "logits"),
    ("probabilities_fed", "logits.softmax(-1)"),
    ("largest_logit_fed", "logits.amax(-1)"),
    ("list_fed", "logits.argmax(-1).tolist()"),
):
    over = {"over = over | (fed == eos)": "over = over"}
    wrong.several(
        name,
        {BEST: best} | (over if name in ("list_fed", "logits_fed", "probabilities_fed") else {}),
        "A later step feeds the cell something that is not of the kind of `y_prev` in 2.4, (B,) "
        "and int64. What do you compute from the logits, (B, V), and which shape does it have?",
    )
