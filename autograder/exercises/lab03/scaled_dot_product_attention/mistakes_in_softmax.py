"""Wrong versions of attention: what students write if their softmax is their own."""

from itertools import product

import torch

from .also_right import by_hand, step_by_step
from .mistakes_in_masking import EMPTIED, FILLED, SOFTMAX, exercise, wrong

wrong(
    "epsilon_in_denominator",
    f"weights = {SOFTMAX}",
    "exp = (scores - scores.amax(-1, keepdim=True)).exp()\n"
    "    weights = exp / (exp.sum(-1, keepdim=True) + 1e-6)",
    "A small number in the denominator makes the weights of every row sum to a little less than "
    "one. Which rows need help, and can they get it without changing the others?",
)
wrong(
    "exponentials_without_the_maximum",
    "torch.softmax(scores, -1)",
    "scores.exp() / scores.exp().sum(-1, keepdim=True)",
    "Your own softmax does not subtract the largest score of a row: large scores overflow, and a "
    "row in which all are very low is divided by 0. What did lab 1's softmax do first?",
)
WIDER = (
    "You compute float16 in float32, which is fine, but one result or both come back in float32. "
    "Which dtype does the task give to outputs and to weights?"
)
CAST = "mask=None):\n    dtype, v = v.dtype, v.float() if v.dtype == torch.float16 else v\n"
for name, outputs, weights in (
    ("weights_of_half", ".to(dtype)", ""),
    ("outputs_of_half", "", ".to(dtype)"),
    ("half", "", ""),
):
    wrong.several(
        f"{name}_in_float32",
        {
            "mask=None):\n": CAST,
            "scores = q @ k.mT": "scores = q.to(v.dtype) @ k.to(v.dtype).mT",
            "return weights @ v, weights": f"return (weights @ v){outputs}, weights{weights}",
        },
        WIDER,
    )
BECOMES_0 = {"filled_with_0": "scores.masked_fill(~mask, 0)", "multiplied": "scores * mask"}
TOTAL = "weights.sum(-1, keepdim=True)"
DIVIDED = {
    "again": f"weights / {TOTAL}.masked_fill({TOTAL} == 0, 1.0)",
    "and_nan": f"weights / {TOTAL}",
    "and_repaired": f"torch.nan_to_num(weights / {TOTAL})",
    **{f"by_a_bit_more_{n}": f"weights / ({TOTAL} + 1e-{n})" for n in (6, 7, 8, 9)},
}
for (name, filled), (how, divided) in product(BECOMES_0.items(), DIVIDED.items()):
    wrong.several(
        f"{name}_and_divided_{how}",
        {FILLED: filled, EMPTIED: f"{EMPTIED}\n        weights = {divided}"},
        "You set forbidden scores to 0, remove their weights and divide by the sum of the rest. If "
        "all allowed scores are far below 0, that sum is 0. Which score has no share at all, even "
        "then?",
    )
for name, number in (
    ("filled_with_minus_10_and_divided_again", "-10"),
    ("filled_with_minus_10000_and_divided_again", "-1e4"),
):
    wrong.several(
        name,
        {
            FILLED: f"scores.masked_fill(~mask, {number})",
            EMPTIED: f"{EMPTIED}\n"
            "        total = weights.sum(-1, keepdim=True)\n"
            "        weights = weights / total.masked_fill(total == 0, 1.0)",
        },
        "You put a number in place of forbidden scores, then remove their weights and divide by "
        "the rest. If all allowed scores are far below that number, there is no rest. When must a "
        "forbidden key drop out?",
    )

for name, limit in (("ten_thousand", "1e4"), ("a_hundred", "100")):
    wrong(
        f"scores_clamped_at_{name}",
        "q @ k.mT / math.sqrt(q.shape[-1])",
        f"(q @ k.mT / math.sqrt(q.shape[-1])).clamp(min=-{limit}, max={limit})",
        "You cut off scores (`clamp`), so two different scores beyond your limit get the same "
        "weight. What does softmax subtract, so that no score is too large for it?",
    )
wrong = exercise.edits(by_hand)

PADDED = "torch.nn.functional.pad(low, (0, 1), value=-torch.inf)"
LARGEST = f"{PADDED}.amax(-1, keepdim=True)"
ROWS_WITHOUT_KEYS = "total.masked_fill(~mask.expand_as(scores).any(-1, keepdim=True), 1.0)"
wrong(
    "largest_of_nothing",
    PADDED,
    "low",
    "With no keys at all (Lk = 0) your code asks for the largest score of an empty row, which is "
    "an error. What should a query without keys get?",
)
for name, largest in (
    ("one_maximum_for_all_rows", f"{PADDED}.max()"),
    ("one_maximum_for_each_sentence", f"{PADDED}.amax((-2, -1), keepdim=True)"),
):
    for which, total in (("", "total.masked_fill(total == 0, 1.0)"), ("_nan", ROWS_WITHOUT_KEYS)):
        wrong.several(
            f"{name}{which}",
            {LARGEST: largest, "total.masked_fill(total == 0, 1.0)": total},
            "You subtract one maximum from several rows, so all exponentials of a row far below it "
            "are rounded to 0. From which scores should a maximum be subtracted?",
        )
wrong(
    "maximum_over_queries",
    LARGEST,
    "low.amax(-2, keepdim=True)",
    "The maximum that you subtract is taken along the queries, so the keys of one row lose "
    "different amounts. What can be subtracted from a row without changing its softmax?",
)
REMOVED_AFTERWARDS = (
    "Forbidden keys count in your softmax, or in the maximum that you subtract, and are removed "
    "only afterwards. If a forbidden score is far above the rest, the others are already rounded "
    "to 0. What if those keys were left out before?"
)
wrong("maximum_over_forbidden_keys", PADDED, PADDED.replace("low", "scores"), REMOVED_AFTERWARDS)


@exercise.mistake(REMOVED_AFTERWARDS)
def mask_after_softmax_renormalised(q, k, v, mask=None):
    weights = step_by_step(q, k, v)[1]
    if mask is not None:
        total = (weights * mask).sum(-1, keepdim=True)
        weights = weights * mask / torch.where(total == 0, 1.0, total)
    return weights @ v, weights


wrong = exercise.edits(step_by_step)
EXPONENTIALS = "(scores - scores.amax(-1, keepdim=True)).exp()"
# Not all digits: for some, the inputs of a check decide whether the difference is too large.
for name, changes, sizes in (
    ("mask_after_softmax", {}, (6, 7, 9, 10)),
    ("mask_after_exponentials", {SOFTMAX: EXPONENTIALS}, (6, 7, 8, 10)),
):
    for digits in sizes:
        divided = f"weights / (weights.sum(-1, keepdim=True) + 1e-{digits})"
        wrong.several(
            f"{name}_divided_by_a_bit_more_{digits}",
            {FILLED: "scores", EMPTIED: f"{EMPTIED}\n        weights = {divided}", **changes},
            REMOVED_AFTERWARDS,
        )
UNLESS_EMPTY = f"{TOTAL}.masked_fill(~mask.any(-1, keepdim=True), 1.0)"
wrong.several(
    "mask_after_softmax_divided_unless_empty",
    {FILLED: "scores", EMPTIED: f"weights * mask\n        weights = weights / {UNLESS_EMPTY}"},
    REMOVED_AFTERWARDS,
)
for name, emptied in (("", EMPTIED), ("_by_a_product", "weights * mask")):
    wrong.several(
        f"mask_after_softmax_divided{name}",
        {FILLED: "scores", EMPTIED: f"{emptied}\n        weights = {DIVIDED['and_nan']}"},
        "You remove forbidden keys only after the exponentials, and divide the rest by what is "
        "left. That is 0 if a forbidden key had nearly all the weight, and if no key is allowed. "
        "Could these keys be left out before?",
    )
wrong.several(
    "mask_after_softmax_divided_and_repaired",
    {FILLED: "scores", EMPTIED: f"weights * mask\n        weights = {DIVIDED['and_repaired']}"},
    "You remove forbidden keys only after the exponentials, divide the rest by what is left, and "
    "replace the NaN. Nothing is left if a forbidden key had nearly all the weight, and without "
    "allowed keys the gradients are still NaN. Could these keys be left out before?",
)


OVERFLOW = (
    "Your own softmax does not subtract the largest score of a row, so large scores overflow. "
    "What did lab 1's softmax do first?"
)


@exercise.mistake(OVERFLOW)
def softmax_without_maximum(q, k, v, mask=None):
    exp = (q @ k.mT / q.shape[-1] ** 0.5).exp()
    exp = exp if mask is None else exp * mask
    total = exp.sum(-1, keepdim=True)
    weights = exp / torch.where(total == 0, 1.0, total)
    return weights @ v, weights


wrong.several(
    "softmax_without_maximum_divided",
    {
        FILLED: "scores",
        SOFTMAX: "scores.exp()",
        EMPTIED: "weights * mask",
        "return weights": f"weights = {DIVIDED['and_nan']}\n    return weights",
    },
    "Your own softmax does not subtract the largest score of a row, so large scores overflow, and "
    "a row without allowed keys is divided by 0. What did lab 1's softmax do first, and what is "
    "left of such a row?",
)
