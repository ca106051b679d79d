"""Losses of other numbers, cut from torch's graph or stopped; changes of ``step_by_step``."""

from __future__ import annotations

import torch  # noqa: F401 - the mistakes use it

from . import exercise
from .also_right import step_by_step

wrong = exercise.edits(step_by_step)

CUT_OFF = (
    "No gradient can be computed from your loss: `.detach()`, `.item()`, `no_grad`, numpy or "
    "`torch.tensor(…)` cuts it from torch's graph. Which line does that, and what is the loss for "
    "in training?"
)
NUMBER_OF_PYTHON = (
    "Your loss is a number of Python: `.item()` or `float(…)` takes it out of torch's graph, so no "
    "gradient can be computed from it. What is the loss for in training?"
)
NEW_TENSOR = (
    "Your loss is a new tensor, made of a number: it has a dtype of its own, and torch's graph "
    "does not connect it with the logits. Which line makes it, and what is the loss for in "
    "training?"
)
TOTAL, MEAN = "return total\n", "return total / counts.sum().clamp(min=1)"
DIVIDED = MEAN.removeprefix("return ")
for name, made, advice in (
    ("number_of_python", "({}).item()", NUMBER_OF_PYTHON),
    ("new_tensor", "torch.tensor(({}).item(), dtype=logits.dtype)", CUT_OFF),
    ("new_float32_tensor", "torch.tensor(({}).item())", NEW_TENSOR),
):
    mean = {MEAN: f"return {made.format(DIVIDED)}"}
    total = {TOTAL: f"return {made.format('total')}\n"}
    wrong.several(f"mean_is_a_{name}", mean, advice)
    wrong.several(f"sum_is_a_{name}", total, advice)
    wrong.several(f"mean_and_sum_are_a_{name}", {**total, **mean}, advice)
wrong("losses_of_rows_detached", "return losses\n", "return losses.detach()\n", CUT_OFF)

NO_SUCH_AXIS = (
    "You ask for an axis that logits of shape (N, V) do not have: they have two, counted from 0. "
    "Along which of them do the probabilities of one row sum to one?"
)
for name, axis in (("third", "2"), ("third_from_the_end", "-3")):
    wrong.several(
        f"{name}_axis", {"amax(-1": f"amax({axis}", "sum(-1": f"sum({axis}"}, NO_SUCH_AXIS
    )
wrong(
    "axis_lost",
    "sum(-1, keepdim=True)",
    "sum(-1)",
    "The logarithm of the sum has one axis less than the logits, so the subtraction stops, or "
    "broadcasts along the wrong axis. Where must an axis of length 1 be kept, or added again?",
)
for name, losses in (
    ("largest_instead_of_the_target", "-log_p.amax(-1)  # (N,)"),
    ("entropy_of_the_distribution", "-(log_p.exp() * log_p).sum(-1)  # (N,)"),
    ("one_minus_the_probability", "1 - log_p[torch.arange(len(target)), column].exp()  # (N,)"),
    ("squared_error", "(1 - log_p[torch.arange(len(target)), column].exp()) ** 2  # (N,)"),
):
    wrong(
        name,
        "-log_p[torch.arange(len(target)), column]  # (N,)",
        losses,
        "The loss of a row is another number than the task's: the surprise of the likeliest "
        "column, the entropy of the row, one minus a probability, or its square. Of which column "
        "does the task take which function?",
    )
wrong(
    "probabilities_guessed",
    "    shifted = logits",
    "    sums = logits.sum(-1)\n"
    "    if (logits >= 0).all() and torch.allclose(sums, torch.ones_like(sums)):\n"
    "        logits = logits.log()\n"
    "    shifted = logits",
    "You take logits that are not below 0 and sum to one for probabilities. May logits be such "
    "numbers by chance, and what does the task say that `logits` holds?",
)
wrong(
    "all_targets_in_the_first_row",
    "log_p[torch.arange(len(target)), column]",
    "log_p.gather(1, column[None])[0]",
    "You look up every target in the first row (`gather` with an index of one row). Which row "
    "belongs to target t, and which shape must the index have?",
)
wrong(
    "looked_up_before_softmax",
    "-log_p[torch.arange(len(target)), column]  # (N,)",
    "-0.0 * log_p[torch.arange(len(target)), column]  # (N,)",
    "Every loss is 0, as with a softmax over a single number: perhaps you look up the right word's "
    "logit first, and normalise what is left. Over which numbers does the softmax of a row run?",
)
wrong(
    "losses_not_added_up",
    "total / counts.sum().clamp(min=1)",
    "losses / counts.sum().clamp(min=1)",
    'Your "mean" is divided by the number of rows, but the losses are not added up before, so it '
    "is one number for each row. How many numbers is a mean?",
)
wrong(
    "divided_by_one_row_more",
    "counts.sum().clamp(min=1)",
    "(counts.sum() + 1)",
    "You divide by one row more than there are rows that count. Which batch needs help, and can it "
    "get it without changing the others?",
)
wrong(
    "losses_of_counted_rows_set_to_zero",
    "torch.where(counts, losses, 0.0)",
    "torch.where(counts, 0.0, losses)",
    "The rows that count cost 0 in your version: your mask is turned round where you set losses to "
    "0. Which argument of `torch.where` is taken where the condition is true?",
)
wrong(
    "divided_by_the_columns",
    "counts.sum().clamp(min=1)",
    "logits.shape[1]",
    "You divide the sum of the losses by how many columns a row has. The mean of which numbers "
    "does the task ask for?",
)
