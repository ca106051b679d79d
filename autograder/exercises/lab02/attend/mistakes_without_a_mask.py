"""Wrong versions of attend that do something else if there is no mask."""

from __future__ import annotations

from . import exercise
from .also_right import lowest_then_zero

NO_MASK = "if mask is None:"
ALL = "torch.ones_like(scores, dtype=torch.bool)"

wrong = exercise.edits(lowest_then_zero)

for name, guess in (
    ("zero_vectors_taken_for_padding", "hidden.abs().sum(-1) > 0"),
    ("zero_scores_taken_for_padding", "scores != 0"),
):
    wrong(
        name,
        ALL,
        guess,
        "Without a mask, you take zeros for padding, but a token may have a score or a vector of "
        "0. Which places count, according to the task, if `mask` is None?",
    )
wrong(
    "nothing_counts_without_a_mask",
    ALL,
    "torch.zeros_like(scores, dtype=torch.bool)",
    "Without a mask, you take every place for padding. Which places count, according to the task, "
    "if `mask` is None?",
)
wrong(
    "one_place_without_its_mask",
    NO_MASK,
    "if mask is None or scores.shape[1] == 1:",
    "If there is one place, you do not look at the mask: the place may be padding. Which weight "
    "has it then?",
)
for name, axis, when in (
    ("without_a_mask", "0 if mask is None else -1", "Without"),
    ("with_a_mask", "-1 if mask is None else 0", "With"),
):
    wrong.several(
        f"softmax_over_batch_{name}",
        {NO_MASK: f"axis = {axis}\n    {NO_MASK}", "softmax(-1)": "softmax(axis)"},
        f"{when} a mask, your weights sum to one over the batch, although its sentences have "
        "nothing to do with each other. Which axis of (B, T) shares one unit of weight?",
    )
