"""Wrong versions of attend in which padding gets scores a little below the lowest one."""

from __future__ import annotations

from . import exercise
from .also_right import lowest_then_zero

FILLED = "scores.masked_fill(~mask, torch.finfo(scores.dtype).min)"
THEN_ZERO = ".masked_fill(~mask, 0.0)"

BELOW = "torch.where(mask, scores, scores.amin(-1, keepdim=True) - {})"

wrong = exercise.edits(lowest_then_zero)


def below_the_lowest(name, amount, advice, **changes):
    """A mistake: the scores of padding are `amount` below the lowest score."""
    wrong.several(
        name,
        {
            FILLED: BELOW.format(amount),
            THEN_ZERO: " * mask.any(-1, keepdim=True)",
            **changes,
        },
        advice,
    )


for amount in (1, 5, 10, 30):
    below_the_lowest(
        f"{amount}_below_the_lowest",
        amount,
        "You set the scores of padding a fixed amount below the lowest score, so padding keeps a "
        "small weight. Which weight does the task promise at padding?",
    )
below_the_lowest(
    "30_below_the_lowest_in_the_context",
    30,
    "Padding has weight 0 in what you return, but not in the sum that makes the context: a tiny "
    "weight of a huge vector is not tiny. Which weights should make the context?",
    **{"return context, weights": "return context, weights * mask"},
)
below_the_lowest(
    "30_below_the_lowest_in_the_weights",
    30,
    "Padding does not count in your context, but the weights that you return are not exactly 0 "
    "there. Where do you use the mask, and for which of your two results?",
    **{"weights, hidden)": "weights * mask, hidden)"},
)
for amount in ("100", "1e3", "1e4", "1e9"):
    wrong(
        f"{amount}_below_the_lowest_and_emptied",
        FILLED,
        BELOW.format(amount),
        "You set the scores of padding some amount below the lowest score. If the scores are huge, "
        "that amount is less than their last digit, and padding takes a share. Which number is "
        "below all others?",
    )
