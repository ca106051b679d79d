"""Wrong versions of attend in which infinity meets a 0."""

from __future__ import annotations

from . import exercise
from .also_right import lowest_then_zero

FILLED = "scores.masked_fill(~mask, torch.finfo(scores.dtype).min)"
THEN_ZERO = ".masked_fill(~mask, 0.0)"

wrong = exercise.edits(lowest_then_zero)

for name, changes in (
    ("infinity_times_the_mask", {THEN_ZERO: ""}),
    ("infinity_times_the_mask_and_emptied", {}),
    ("infinity_times_the_mask_and_multiplied", {THEN_ZERO: " * mask"}),
):
    wrong.several(
        name,
        {FILLED: "scores + ~mask * -torch.inf", **changes},
        "With a mask, the weights of tokens are NaN, too: perhaps you multiply infinity by the "
        "mask, and 0 · inf is NaN. Which call writes a number at some places without a product?",
    )
