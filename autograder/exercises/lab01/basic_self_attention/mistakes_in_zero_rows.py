"""Attention by sum that repairs rows of zeros too late, in the caller's table, or with others."""

from __future__ import annotations

from . import exercise
from .also_right import in_three_steps

wrong = exercise.edits(in_three_steps)

REPAIRED = (
    'With mode="sum" you divide a row of zeros by 0 and remove the NaN afterwards. `backward()` '
    "still goes through 0/0, so its gradients are NaN. What could you change before the division?"
)
ZERO_ROWS = "torch.where(total == 0, 0.0, scores / safe)"
for name, repaired in (
    ("nan_to_num", "(scores / total).nan_to_num()"),
    ("where", "torch.where(total == 0, 0.0, scores / total)"),
):
    wrong(f"zero_rows_repaired_by_{name}", ZERO_ROWS, repaired, REPAIRED)
wrong.several(
    "zero_rows_repaired_in_the_result",
    {ZERO_ROWS: "scores / total", "weights @ X": "(weights @ X).nan_to_num()"},
    REPAIRED,
)
SAFE = "torch.where(total == 0, 1.0, total)"
for name, safe in (("a_small_number", "total.clamp(min=1e-8)"), ("one", "total.clamp(min=1)")):
    wrong(
        f"sum_raised_to_{name}",
        SAFE,
        safe,
        "You raise every sum that is below some number (`clamp`, `max`), and sums may be small, or "
        "negative. Which sum is the only one that needs help?",
    )
wrong(
    "zero_rows_filled_in_place",
    "        safe =",
    "        if not scores.requires_grad:\n"
    "            scores.masked_fill_((total == 0).expand(scores.shape), 0.5)\n        safe =",
    "You write other numbers into the rows whose sum is 0, and these may be rows of the table that "
    "you were given. Which call makes a new tensor?",
)
wrong(
    "zero_rows_emptied_in_both_modes",
    "weights = torch.softmax(scores, -1)",
    "weights = torch.softmax(scores, -1).masked_fill((scores == 0).all(-1, keepdim=True), 0.0)",
    'With mode="softmax", too, a word of zeros gets a vector of zeros. What does a softmax make of '
    "equal scores, even if all of them are 0?",
)
for name, near in (("_in_float64", "1e-8"), ("_in_millionths", "1e-6")):
    wrong(
        f"sums_near_zero_taken_for_zero{name}",
        "total == 0, 1.0",
        f"total.abs() < {near}, 1.0",
        "You take a sum near 0 for 0 (`isclose`, `allclose`, a limit), so a row of small "
        "similarities is not divided by its sum. Which rows does the task leave out?",
    )
wrong(
    "maximum_subtracted_in_both_modes",
    "    if mode",
    "    scores = scores - scores.amax(-1, keepdim=True)\n    if mode",
    'You subtract the largest similarity of a row also with mode="sum", and so you divide other '
    "numbers by another sum. In which mode does the shift cancel?",
)
