"""Wrong versions of attend whose weights are right, and their context is not; and no softmax."""

from __future__ import annotations

from . import exercise
from .also_right import lowest_then_zero

CONTEXT = 'torch.einsum("bt,bth->bh", weights, hidden)'
FILL = ".masked_fill(~mask, torch.finfo(scores.dtype).min)"
MINUS_INFINITY = ".masked_fill(~mask, -torch.inf)"
THEN_ZERO = ".masked_fill(~mask, 0.0)"
ROWS_EMPTIED = ".masked_fill(~mask.any(-1, keepdim=True), 0.0)"

wrong = exercise.edits(lowest_then_zero)

wrong(
    "weighted_vectors_not_summed",
    CONTEXT,
    "weights[:, :, None] * hidden",
    "Your context still has a vector for every place: weight times vector, (B, T, d_hidden). What "
    "does the Σ in the task do with them?",
)
DIVIDED_AGAIN = (
    "You divide the weighted sum once more, by a number of places, of tokens or of features. The "
    "weights sum to one already; why divide again?"
)
for name, number in (
    ("tokens", "mask.sum(1, keepdim=True).clamp(min=1)"),
    ("features", "hidden.shape[-1]"),
):
    wrong(f"context_divided_by_{name}", CONTEXT, f"{CONTEXT} / {number}", DIVIDED_AGAIN)
wrong(
    "largest_instead_of_sum",
    CONTEXT,
    "(weights[:, :, None] * hidden).amax(1)",
    "In each feature, your context takes the largest of the weighted vectors. What does the Σ in "
    "the task do with them?",
)
NOT_A_SOFTMAX = (
    "You divide the scores themselves by their sum. A score may be negative, and their sum may be "
    "0: what does a softmax make of each score before it divides?"
)
for name, changes in (("", {}), ("_filled_with_0", {FILL: ".masked_fill(~mask, 0.0)"})):
    wrong.several(
        f"scores_divided_by_their_sum{name}",
        {"filled.softmax(-1)": "(filled / filled.sum(-1, keepdim=True))"} | changes,
        NOT_A_SOFTMAX,
    )
for name, changes in (
    ("scores_as_weights", {}),
    ("scores_as_weights_filled_with_infinity", {FILL: MINUS_INFINITY, THEN_ZERO: ""}),
    (
        "scores_as_weights_rows_emptied",
        {FILL: MINUS_INFINITY, THEN_ZERO: ROWS_EMPTIED},
    ),
):
    wrong.several(
        name,
        {".softmax(-1)": "", **changes},
        "You use the scores as weights, without any change. What turns scores, which may be "
        "negative, into shares that sum to one?",
    )
