"""Wrong versions of attention: what students write for queries without allowed keys."""

from .mistakes_in_masking import EMPTIED, FILL, FILLED, wrong
from .mistakes_in_products import NO_MASK
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
    "mean_of_filled_scores_subtracted",
    FILL,
    f"{FILL}\n        scores = scores - scores.mean(-1, keepdim=True)",
    "You subtract the mean of a row after you have filled it, so the fill is a part of that mean. "
    "What is left of the other scores?",
)
wrong(
    "lowest_of_no_scores",
    FILLED,
    "scores.masked_fill(~mask, scores.detach().min() - 1000)",
    "You look for the lowest score, but with no keys at all (Lk = 0) there is none. Is there a "
    "number that is low enough whatever the scores are?",
)
wrong(
    "lowest_number_added_and_emptied",
    FILLED,
    "scores + (~mask).to(scores) * torch.finfo(scores.dtype).min",
    "You add the lowest number of the dtype to forbidden scores. In float16 that is -65,504, and a "
    "score of 60,000 is still above one of -20,000 then. What replaces a score, however high?",
)
wrong(
    "weights_written_into",
    f"weights = {EMPTIED}",
    "weights.masked_fill_(~mask, 0)",
    "You write into the weights that softmax returned, and torch needs them as they were on the "
    "way back. What makes new weights instead?",
)
wrong(
    "exponentials_without_the_maximum",
    "torch.softmax(scores, -1)",
    "scores.exp() / scores.exp().sum(-1, keepdim=True)",
    "Your own softmax does not subtract the largest score of a row: large scores overflow, and a "
    "row in which all are very low is divided by 0. What did lab 1's softmax do first?",
)
wrong(
    "log_of_the_mask_added",
    FILLED,
    "scores + mask.log()",
    "You add the logarithm of the mask, 0 or -inf, in float32. In float16 two dtypes meet, and a "
    "row without keys is NaN before you empty it, so its gradients are NaN, too. What replaces a "
    "score instead?",
)
SAME_TABLE = (
    "Your scores are those of queries with queries, of keys with keys, or of queries with values. "
    "Which two tables meet in the formula?"
)
for name, product in (
    ("queries_with_queries", "q @ q.mT"),
    ("keys_with_keys", "k @ k.mT"),
    ("queries_with_values", "q @ v.mT"),
):
    wrong(name, "q @ k.mT", product, SAME_TABLE)
    wrong.several(f"{name}_without_a_mask", {"q @ k.mT": product, **NO_MASK}, SAME_TABLE)
