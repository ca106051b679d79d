"""Wrong versions of attention: what students write for queries without allowed keys."""

from .mistakes_in_masking import EMPTIED, FILLED, RETURN, wrong
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
wrong(
    "masks_without_an_allowed_key_skipped",
    "    scores = q",
    "    mask = mask if mask is not None and mask.any() else None\n    scores = q",
    "A mask that allows no key at all has no effect in your code. What does a query get that may "
    "attend to no key?",
)
wrong(
    "equal_scores_taken_for_no_key",
    RETURN,
    "equal = (scores == scores[..., :1]).all(-1, keepdim=True)\n"
    "    weights = weights.masked_fill(equal, 0.0)\n"
    f"    {RETURN}",
    "You recognise a row without allowed keys by its equal scores. May the scores of allowed keys "
    "be equal, too, as for a single key?",
)
wrong(
    "no_keys_as_wide_as_the_queries",
    "    scores = q",
    "    if k.shape[-2] == 0:\n"
    "        return q * 0.0, q.new_zeros(*q.shape[:-1], 0)\n    scores = q",
    "Without keys, your outputs have the shape of the queries. How long is an output vector?",
)
