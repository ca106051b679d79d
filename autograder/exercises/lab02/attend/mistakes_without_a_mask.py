"""Wrong versions of attend that take zeros for padding if there is no mask."""

from __future__ import annotations

from . import exercise
from .also_right import lowest_then_zero

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
