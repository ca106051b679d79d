"""Wrong versions of `greedy_decode`: most are a small change of a right one."""

from __future__ import annotations

import torch

from . import exercise
from .also_right import step_by_step

LIMITS = "limits = source_valid.sum(1) + max_extra"
STEP = "logits = model.decode(read, memory, source_valid)"
OVER = "over = over | (symbol == eos) | (step >= limits)"

wrong = exercise.edits(step_by_step)

wrong(
    "limit_from_the_padded_length",
    LIMITS,
    "limits = torch.tensor(source.shape[1] + max_extra)",
    "Your limit comes from the width of `source`, padding included, so a short source gets a "
    "target that is too long. How many symbols does each row have?",
)
wrong(
    "largest_limit_for_all",
    LIMITS,
    "limits = (source_valid.sum(1) + max_extra).max()",
    "All rows have the limit of the longest source. How long may the target of each row be?",
)
wrong(
    "smallest_limit_for_all",
    LIMITS,
    "limits = (source_valid.sum(1) + max_extra).min()",
    "All rows stop at the limit of the shortest source. How long may the target of each row be?",
)
wrong(
    "limit_of_the_first",
    LIMITS,
    "limits = source_valid[0].sum() + max_extra",
    "All rows have the limit of the first one. How long may the target of each row be?",
)
wrong(
    "index_of_the_last_symbol",
    LIMITS,
    "limits = torch.tensor([int(row.nonzero().max()) for row in source_valid]) + max_extra",
    "Your limit comes from the position of the last symbol, which counts from 0. How many symbols "
    "does a row have?",
)
wrong(
    "only_extra_symbols",
    LIMITS,
    "limits = torch.full((len(source),), max_extra)",
    "Every row may write `max_extra` symbols, however long its source is. To what does the task "
    "add `max_extra`?",
)
wrong(
    "always_fifty",
    LIMITS,
    "limits = source_valid.sum(1) + 50",
    "Your limit is 50 symbols more than the source, whatever `max_extra` is. Is the argument used?",
)
wrong(
    "limit_from_padding",
    LIMITS,
    "limits = (~source_valid).sum(1) + max_extra",
    "You count the padding of a source instead of its symbols. What does True mean in "
    "`source_valid`?",
)
wrong(
    "no_limit",
    OVER,
    "over = over | (symbol == eos) | (step >= 2 * limits + 50)",
    "Your rows go on beyond their limits. What ends a row whose model never writes `eos`?",
)
wrong(
    "bos_counted",
    "(step >= limits)",
    "(step + 1 >= limits)",
    "Your rows end one symbol too early. Does `bos`, which the model did not write, count?",
)
wrong(
    "one_symbol_more",
    "(step >= limits)",
    "(step > limits)",
    "Your rows write one symbol more than their limit. How many has a row written after step 1?",
)
wrong(
    "one_symbol_more_but_in_the_longest",
    "(step >= limits)",
    "(step > limits) | (step >= limits.max())",
    "Your rows write one symbol more than their limit; only the longest is stopped by the loop. "
    "How many has a row written after step 1?",
)
wrong(
    "stops_with_the_first",
    "not over.all()",
    "not over.any()",
    "The whole batch stops as soon as one of its rows has ended, and the others are cut off. How "
    "many rows must be over before the loop may stop?",
)
wrong(
    "end_of_the_first_row",
    "not over.all()",
    "not over[0]",
    "Your loop looks only at the *first* row: when it ends, the others stop with it. Do all rows "
    "end at the same step?",
)
wrong(
    "stop_condition_inverted",
    "not over.all()",
    "over.all() or not step",
    "The condition of your loop is inverted: it goes on when the stop symbol has come, as lecture "
    'N\'s slide says ("when the stop token is generated, repeat"). When should decoding go on?',
)
wrong(
    "pad_ends_a_row",
    OVER,
    "over = over | (symbol == eos) | (symbol == pad) | (step >= limits)",
    "In your code a row also ends when the model itself writes `pad`. What ends a row, according "
    "to the task?",
)
wrong.several(
    "no_row_ends",
    {"            symbol[over] = pad\n": "", OVER: "over = over | (step >= limits)"},
    "Nothing ends a row before its limit: its `eos` is a symbol like any other in your loop. What "
    "should happen after it?",
)
wrong(
    "ends_forgotten",
    OVER,
    "over = (symbol == eos) | (step >= limits)",
    "A row that has ended wakes up again at the next step. How does your loop remember an earlier "
    "end?",
)
wrong(
    "talks_on",
    "            symbol[over] = pad\n",
    "",
    "A row goes on writing after its end, while the others are not yet finished. What should it "
    "get from then on?",
)
wrong(
    "eos_again_and_again",
    "symbol[over] = pad",
    "symbol[over] = eos",
    "A row that is over gets `eos` at every further step. Which symbol fills up short rows?",
)
wrong(
    "padded_with_zero",
    "symbol[over] = pad",
    "symbol[over] = 0",
    "You fill up short rows with 0, whatever `pad` is. Is the argument used?",
)
wrong(
    "eos_replaced",
    "    return read[:, 1:]",
    "    return read[:, 1:].masked_fill(read[:, 1:] == eos, pad)",
    "Your rows have lost their `eos`. Did the model write it?",
)
wrong(
    "bos_kept",
    "return read[:, 1:]",
    "return read",
    "Your rows begin with `bos`. Did the model write that symbol, or did you add it?",
)
wrong(
    "first_symbol_lost",
    "return read[:, 1:]",
    "return read[:, 2:]",
    "The first symbol that the model wrote is missing. How many symbols did you add in front?",
)
wrong(
    "encoded_again",
    STEP,
    "memory = model.encode(source, source_valid)\n            " + STEP,
    "The source is encoded again at every step, although it never changes. Which line can move "
    "above the loop?",
)
wrong.several(
    "whole_model_at_each_step",
    {
        STEP: "logits = model(source, source_valid, read)",
        "        memory = model.encode(source, source_valid)\n": "",
    },
    "You call the whole model at every step, so its encoder reads the source again each time. "
    "Which half of the model has something new to read?",
)
wrong(
    "memory_computed_twice",
    STEP,
    "logits = model(source, source_valid, read)",
    "You encode the source once, and then call the whole model at every step, which encodes it "
    "again. Which half of the model has something new to read?",
)
wrong(
    "first_position",
    "logits[:, -1]",
    "logits[:, 0]",
    "You take the logits of the first position, which are always for the first symbol. Which "
    "position reads the newest symbol?",
)
wrong(
    "position_before_the_last",
    "logits[:, -1]",
    "logits[:, max(step - 2, 0)]",
    "You take the logits one position too early: they are for the symbol that is already written. "
    "Which position reads the newest symbol?",
)
wrong(
    "largest_position",
    "logits[:, -1].argmax(-1)",
    "logits.amax(-1).argmax(-1)",
    "Your argmax gives the number of a position, not of a symbol. Which axis of (B, T, V) has the "
    "symbols?",
)
wrong(
    "largest_of_the_batch",
    "logits[:, -1].argmax(-1)",
    "logits[:, -1].argmax(0)[: len(source)]",
    "You take the largest logit along the batch. Which axis of (B, V) has the symbols?",
)
wrong(
    "batch_of_one_dropped",
    "logits[:, -1].argmax(-1)",
    "logits[:, -1].squeeze().argmax(-1)",
    "With a single row, your logits have one axis instead of two. Which call drops an axis of "
    "length 1?",
)
wrong(
    "least_likely",
    "argmax",
    "argmin",
    "You take the least likely symbol. Which end of the logits do you look at?",
)
wrong(
    "largest_number_of_equals",
    "logits[:, -1].argmax(-1)",
    "logits.shape[-1] - 1 - logits[:, -1].flip(-1).argmax(-1)",
    "Of equally likely symbols you take the last one. Which one does the task want?",
)
wrong(
    "only_the_newest_symbol",
    STEP,
    "logits = model.decode(read[:, -1:], memory, source_valid)",
    "Your decoder reads only the newest symbol (lab 2's GRU had a state for the others). What does "
    "a Transformer's decoder know of the symbols that you do not give it?",
)
wrong(
    "bos_forgotten",
    STEP,
    "logits = model.decode(read[:, min(1, step - 1) :], memory, source_valid)",
    "After the first step your decoder reads its own symbols without `bos`, so all of them are one "
    "position too early. What did it read in training?",
)
wrong(
    "bos_read_again",
    STEP,
    "logits = model.decode(torch.full_like(read, bos), memory, source_valid)",
    "The decoder reads nothing but `bos`, so it never sees its own output. What goes into a later "
    "step?",
)
wrong(
    "starts_with_the_dates_bos",
    "torch.full((len(source), 1), bos)",
    "torch.full((len(source), 1), 1)",
    "Your rows start with the symbol 1, whatever `bos` is. Is the argument used?",
)
wrong(
    "ends_with_the_dates_eos",
    "(symbol == eos)",
    "(symbol == 2)",
    "Your rows end at the symbol 2, whatever `eos` is. Is the argument used?",
)
wrong(
    "starts_from_the_source",
    "torch.full((len(source), 1), bos)",
    "source[:, :1] % 11",
    "Your decoder starts from the first symbol of the source. With which symbol does every "
    "sentence start?",
)
wrong(
    "mask_not_passed",
    "model.decode(read, memory, source_valid)",
    "model.decode(read, memory, torch.ones_like(source_valid))",
    "The decoder looks at padding: `source_valid` does not reach it. What are the three arguments "
    "of `model.decode`?",
)
wrong(
    "mask_inverted",
    "model.decode(read, memory, source_valid)",
    "model.decode(read, memory, ~source_valid | source_valid.all(1, keepdim=True))",
    "The mask reaches the decoder inverted. What does True mean in `source_valid`?",
)
wrong(
    "encoder_without_mask",
    "model.encode(source, source_valid)",
    "model.encode(source, torch.ones_like(source_valid))",
    "The encoder reads padding: `source_valid` does not reach it. What are the two arguments of "
    "`model.encode`?",
)
wrong(
    "training_mode",
    "    model.eval()\n",
    "",
    "The model writes in training mode, so dropout would change every symbol. Which call switches "
    "it off?",
)
wrong(
    "mode_not_restored",
    "    model.train(before)\n",
    "",
    "Your function leaves the model in evaluation mode: if training goes on, it goes on without "
    "dropout. What should you remember before you change the mode?",
)
wrong(
    "always_training_afterwards",
    "model.train(before)",
    "model.train()",
    "Afterwards the model is always in training mode, even if it was not before. What should you "
    "remember before you change the mode?",
)
wrong(
    "gradients_recorded",
    "torch.no_grad()",
    "torch.enable_grad()",
    "torch records gradients while you decode: every step keeps all earlier ones in memory. Which "
    "context manager switches that off?",
)
wrong(
    "gradients_off_for_good",
    "    with torch.no_grad():",
    "    torch.set_grad_enabled(False)\n    with torch.no_grad():",
    "Gradients stay off: after a call of your function, nothing can be trained. What switches them "
    "off only inside a `with` block?",
)
wrong(
    "runs_to_the_limit",
    "while not over.all():",
    "while step < limits.max():",
    "Your loop always makes as many steps as the largest limit allows, even if all rows have "
    "ended. When may it stop?",
)
wrong.several(
    "runs_to_the_limit_and_cuts",
    {
        "while not over.all():": "while step < limits.max():",
        "return read[:, 1:]": "return read[:, 1 : 1 + int((read[:, 1:] != pad).sum(1).max())]",
    },
    "Your loop goes on after all rows have ended, and the empty columns are cut off afterwards. "
    "When may the loop stop?",
)
wrong(
    "lists_returned",
    "return read[:, 1:]",
    "return read[:, 1:].tolist()",
    "You return lists, as in lab 2. What does the task ask for here?",
)
wrong(
    "source_overwritten",
    "    model.train(before)\n",
    "    model.train(before)\n    source[~source_valid] = pad\n    source[:, 0] = bos\n",
    "Your code writes into `source`, which the caller still needs. What makes a new tensor?",
)
wrong(
    "as_floats",
    "torch.full((len(source), 1), bos)",
    "torch.full((len(source), 1), float(bos))",
    "Your symbols are floating-point numbers, and an embedding looks up whole numbers. Which dtype "
    "has your first column?",
)


@exercise.mistake(
    "Each row is decoded until its end, but you return only the newest symbol of each. Where do "
    "you keep the earlier ones?"
)
def last_symbols_only(model, source, source_valid, bos, eos, pad=0, max_extra=50):
    written = step_by_step(model, source, source_valid, bos, eos, pad, max_extra)
    return torch.stack([row[row != pad][-1:] for row in written])
