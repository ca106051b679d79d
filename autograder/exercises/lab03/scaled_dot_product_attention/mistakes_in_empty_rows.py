"""Wrong versions of attention: what students write for queries without allowed keys."""

from .mistakes_in_masking import EMPTIED, FILLED, wrong
from .mistakes_in_signs import ROW_EMPTIED

ANY_WITHOUT_ITS_AXIS = (
    "You ask of each query whether it may attend to any key at all, and the answer has lost the "
    "axis of the keys, so it does not stand beside its own row. Which argument keeps that axis, "
    "with length 1?"
)
for name, emptied in (
    ("filled", "weights.masked_fill(~mask.any(-1), 0)"),
    ("multiplied", "weights * mask.any(-1)"),
):
    wrong(f"rows_without_keys_{name}_without_their_axis", EMPTIED, emptied, ANY_WITHOUT_ITS_AXIS)
wrong(
    "rows_with_a_forbidden_key_emptied",
    EMPTIED,
    "weights * mask.all(-1, keepdim=True)",
    ROW_EMPTIED,
)
wrong(
    "lowest_of_no_scores",
    FILLED,
    "scores.masked_fill(~mask, scores.detach().min() - 1000)",
    "You look for the lowest score, but with no keys at all (Lk = 0) there is none. Is there a "
    "number that is low enough whatever the scores are?",
)
