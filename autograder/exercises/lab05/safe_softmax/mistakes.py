"""Wrong versions of `safe_softmax`, most of them edits of a right one."""

import math

import torch

from . import mistakes_in_fills  # noqa: F401 - to register them
from .also_right import filled_twice
from .mistakes_by_hand import exercise

INFINITY = "-math.inf"
EMPTY = ".masked_fill(empty, 0.0)"

wrong = exercise.edits(filled_twice)

wrong.several(
    "nan_for_nothing",
    {EMPTY: "", ".masked_fill(~mask, 0.0)": ""},
    "Rows without an allowed key are NaN: their softmax, or your division by a sum of 0, is 0/0. "
    "Which row needs another divisor, or other scores?",
)
wrong(
    "uniform_for_nothing",
    ".masked_fill(~mask, 0.0)",
    "",
    "A row without an allowed key shares its weight evenly among forbidden keys, because all were "
    "filled with the same number. Which weights do you know to be 0, whatever softmax returns?",
)

ONE_FILL_INVERTED = (
    "One of your fills works where the mask is True, and the other where it is False, so no key "
    "keeps its weight. What does True mean in the task?"
)
FIRST, SECOND = "scores.masked_fill(~mask, low)", "weights.masked_fill(~mask, 0.0)"
wrong("first_fill_inverted", FIRST, FIRST.replace("~", ""), ONE_FILL_INVERTED)
wrong("second_fill_inverted", SECOND, SECOND.replace("~", ""), ONE_FILL_INVERTED)
wrong(
    "axis_dropped",
    "keepdim=True",
    "keepdim=False",
    "You ask each row whether it has an allowed key, and the answer has lost the last axis. Which "
    "shape must it have, so that it broadcasts along the keys?",
)

ADDED_AND_REPAIRED = (
    "You add -inf to forbidden scores, so softmax makes NaN in a row without an allowed key. You "
    "repair the weights afterwards, but the backward pass still goes through that NaN (0 times NaN "
    "is NaN). What replaces a forbidden score before softmax, instead of adding to it?"
)
BY_ADDING = {
    EMPTY: "",
    "scores.masked_fill(": "scores + torch.zeros_like(scores).masked_fill(",
}
BY_NUMBERS = {
    EMPTY: "",
    "scores.masked_fill(~mask, low)": "scores + to_additive(mask, scores.dtype)",
}
wrong.several(
    "nan_repaired_afterwards",
    {**BY_ADDING, "masked_fill(~mask, 0.0)": "nan_to_num(0.0)"},
    ADDED_AND_REPAIRED,
)
wrong.several(
    "nan_repaired_by_where",
    {
        **BY_ADDING,
        "weights.masked_fill(~mask, 0.0)": (
            "torch.where(mask.any(-1, keepdim=True), weights, 0.0)"
        ),
    },
    ADDED_AND_REPAIRED,
)
wrong.several("infinity_added_and_zeroed", BY_ADDING, ADDED_AND_REPAIRED)
wrong.several("additive_and_zeroed", BY_NUMBERS, ADDED_AND_REPAIRED)
wrong.several(
    "additive_and_emptied", {**BY_NUMBERS, "(~mask, 0.0)": "(empty, 0.0)"}, ADDED_AND_REPAIRED
)
wrong.several(
    "additive_and_repaired",
    {**BY_NUMBERS, "masked_fill(~mask, 0.0)": "nan_to_num(0.0)"},
    "You add the mask as numbers and repair NaN afterwards. In half precision the numbers are "
    "finite, so a row without an allowed key is not NaN but spread evenly; in other dtypes NaN "
    "stays in the gradients. What replaces a forbidden score before softmax, instead of adding to "
    "it?",
)
for name, last in (("left", "weights"), ("multiplied", "weights * mask")):
    wrong.several(
        f"additive_and_{name}",
        {**BY_NUMBERS, "weights.masked_fill(~mask, 0.0)": last},
        "You add the mask as numbers. In float32 and float64 a row without an allowed key then "
        "holds -inf alone, its softmax is NaN, and NaN times 0 is NaN. What replaces a forbidden "
        "score before softmax, instead of adding to it?",
    )
wrong.several(
    "infinity_added_in_another_dtype",
    {**BY_ADDING, "scores.masked_fill(": "scores + torch.zeros(scores.shape).masked_fill("},
    "You add a new tensor to the scores. It has torch's default dtype, so half precision becomes "
    "float32, and -inf makes NaN in a row without an allowed key. What replaces a number in a "
    "tensor, instead of adding to it?",
)
MASK_ADDED = (
    "You add the mask to the scores. -inf plus infinity, or plus NaN, is NaN. What replaces a "
    "score, instead of adding to it?"
)
# Rows without an allowed key add nothing, so they are finite if their scores are.
for name, numbers in (
    ("infinity", "torch.zeros_like(scores).masked_fill(~(mask | empty), low)"),
    ("numbers", "to_additive(mask | empty, scores.dtype)"),
):
    for last in ("(~mask, 0.0)", "(empty, 0.0)"):
        wrong.several(
            f"{name}_added_but_in_empty_rows" + ("" if "mask" in last else "_and_emptied"),
            {
                EMPTY: "",
                "scores.masked_fill(~mask, low)": f"(scores + {numbers})",
                "(~mask, 0.0)": last,
            },
            MASK_ADDED,
        )
for name, added in (
    ("mask", "torch.zeros_like(scores).masked_fill(~mask, low)"),
    ("numbers", "to_additive(mask, scores.dtype)"),
):
    for rows, last in (("", "(~mask, 0.0)"), ("_and_empty_rows_emptied", "(empty, 0.0)")):
        wrong.several(
            f"{name}_added{rows}",
            {"scores.masked_fill(~mask, low)": f"(scores + {added})", "(~mask, 0.0)": last},
            MASK_ADDED,
        )
wrong(
    "masked_after_softmax",
    "scores.masked_fill(~mask, low)",
    "scores",
    "You mask after softmax, so the weights of a row sum to less than 1. When must a forbidden key "
    "drop out, before or after the exponential?",
)
wrong(
    "by_logsumexp",
    "    weights = torch.softmax(scores.masked_fill(~mask, low).masked_fill(empty, 0.0), -1)\n",
    "    filled = scores.masked_fill(~mask, low).masked_fill(empty, 0.0)\n"
    "    weights = (filled - filled.logsumexp(-1, keepdim=True)).exp()\n",
    "You take exp(x - logsumexp(x)). If scores are huge, the logsumexp is one of those huge "
    "numbers plus a small one, and the small one is lost in rounding. What can you subtract first "
    "to make all numbers small?",
)
wrong.several(
    "through_float32",
    {
        "scores.masked_fill": "scores.float().masked_fill",
        "(~mask, 0.0)": "(~mask, 0.0).to(scores.dtype)",
    },
    "Your weights are computed in float32 and converted to float64 only at the end, so they are "
    "off from the eighth digit on. Which call changes the dtype?",
)
wrong(
    "always_float32",
    "scores.masked_fill",
    "scores.float().masked_fill",
    "Everything you return is float32, whatever dtype came in. Where does your code fix the dtype?",
)
wrong(
    "always_float64",
    "scores.masked_fill",
    "scores.double().masked_fill",
    "Everything you return is float64, whatever dtype came in. Where does your code fix the dtype?",
)
wrong(
    "mask_overwritten",
    "    return weights.masked_fill(~mask, 0.0)",
    "    weights = weights.masked_fill(~mask, 0.0)\n    mask.fill_(True)\n    return weights",
    "Your code writes into the mask that it was given (`logical_not_`, `|=`, an assignment to "
    "`[…]`). What does the same and makes a new tensor?",
)
wrong.several(
    "rows_opened_in_the_mask",
    {
        ".masked_fill(~mask, 0.0)": ".masked_fill(~real, 0.0)",
        "    weights =": "    real = mask.clone()\n    mask.logical_or_(empty)\n    weights =",
    },
    "Your code writes into the mask that it was given where a row has no allowed key (`|=`, an "
    "assignment to `[…]`). What does the same and makes a new tensor?",
)
wrong(
    "first_key_opened_in_the_mask",
    "    weights =",
    "    mask[..., 0] = True\n    weights =",
    "You allow the first key in every row, and you do so in the mask that you were given "
    "(`mask[..., 0] = True`). What should its weight be where the mask forbids it?",
)
wrong.several(
    "everything_in_the_mask",
    {"    weights =": "    mask.logical_or_(empty)\n    weights ="},
    "You drop the mask for rows without an allowed key, and you do so in the mask that you were "
    "given. What should the weights of such a row be?",
)
for name, last in (
    ("multiplied_by_zero", "weights * mask"),
    ("emptied_after_softmax", "weights.masked_fill(~mask, 0.0)"),
):
    wrong.several(
        f"empty_rows_{name}",
        {
            "scores.masked_fill(~mask, low).masked_fill(empty, 0.0)": (
                "torch.where(empty, scores, scores.masked_fill(~mask, low))"
            ),
            "weights.masked_fill(~mask, 0.0)": last,
        },
        "In a row without an allowed key you take the softmax of its forbidden scores, and its "
        "weights become 0 only afterwards. If one of these scores is NaN, or all are -inf, softmax "
        "makes NaN there, and 0 times NaN is NaN, also on the way back. What should softmax get?",
    )
FILLED_WITH_A_NUMBER = (
    "You fill with a fixed low number, but allowed scores may be lower, and then the forbidden "
    "keys win. What is below every score, in each dtype?"
)
wrong(
    "filled_with_minus_a_billion",
    INFINITY,
    "-6e4 if scores.dtype == torch.float16 else -1e9",
    FILLED_WITH_A_NUMBER,
)
wrong("filled_with_minus_ten_thousand", INFINITY, "-1e4", FILLED_WITH_A_NUMBER)
ALMOST_INFINITE = {INFINITY: "-6e4 if scores.dtype == torch.float16 else -1e30"}
wrong.several("filled_with_minus_1e30", ALMOST_INFINITE, FILLED_WITH_A_NUMBER)
wrong.several(
    "minus_1e30_and_empty_rows",
    {**ALMOST_INFINITE, "(~mask, 0.0)": "(empty, 0.0)"},
    FILLED_WITH_A_NUMBER,
)
wrong(
    "filled_with_the_lowest",
    INFINITY,
    "torch.finfo(scores.dtype).min",
    "You fill with the dtype's lowest finite number. An allowed score may have this value, too: "
    "then a forbidden key takes as large a share of the row. What is below every finite number?",
)
A_FIXED_NUMBER = (
    "You fill with one low number, such as -1e9 or -1e30, in every dtype. It does not fit into "
    "float16, which ends at -65504, and in float64 an allowed score may be lower. What is below "
    "every finite number, in each dtype?"
)
wrong("minus_a_billion_in_every_dtype", INFINITY, "-1e9", A_FIXED_NUMBER)
wrong(
    "filled_with_zero",
    INFINITY,
    "0.0",
    "You set forbidden scores to 0, and exp(0) is 1, so they take their share. Which score gives a "
    "weight of 0?",
)
wrong.several(
    "filled_with_zero_and_left",
    {INFINITY: "0.0", "weights.masked_fill(~mask, 0.0)": "weights"},
    "You set forbidden scores to 0, and exp(0) is 1, so they take their share. Which score gives a "
    "weight of 0?",
)
ALL_KEYS_DEMANDED = (
    "Each row with a forbidden key comes out like a row without an allowed one. When does your "
    "code take a row for empty, and what is left of the scores that a row allows?"
)
wrong("all_keys_demanded", "mask.any", "mask.all", ALL_KEYS_DEMANDED)
wrong.several(
    "zeros_unless_all_are_allowed",
    {"mask.any": "mask.all", "weights.masked_fill(~mask": "weights.masked_fill(empty"},
    ALL_KEYS_DEMANDED,
)
wrong(
    "two_axes_taken_for_padding",
    "low = -math.inf",
    "low, lead = -math.inf, [1] * (scores.ndim - 2)\n"
    "    mask = mask.view(-1, *lead, mask.shape[1]) if mask.ndim == 2 < scores.ndim else mask",
    "You take the first axis of a mask with two axes for the sentences of a batch. With which axis "
    "of the scores does it line up when it broadcasts?",
)
wrong.several(
    "inverted",
    {"(~mask, low)": "(mask, low)", "(~mask, 0.0)": "(mask, 0.0)"},
    "Your mask is inverted: the forbidden keys get the weights. What does True mean in the task?",
)
NO_QUERY_ALLOWED = (
    "You look for keys that no query may attend to, instead of queries without an allowed key. "
    "Along which axis are the keys of one query?"
)
wrong("keys_without_a_query", "mask.any(-1", "mask.any(-2", NO_QUERY_ALLOWED)
wrong(
    "keys_without_a_query_in_full",
    "mask.any(-1",
    "mask.expand_as(scores).any(-2",
    NO_QUERY_ALLOWED,
)
OTHER_AXIS = (
    "Your weights do not sum to 1 along the last axis, but along another one. Rows are queries: "
    "along which axis are the weights of one query?"
)
wrong("other_axis", "0.0), -1)", "0.0), -2)", OTHER_AXIS)
wrong("first_axis", "0.0), -1)", "0.0), 0)", OTHER_AXIS)
for name, scale in (("root_of_the_keys", "scores.shape[-1] ** 0.5"), ("eight", "8.0")):
    wrong(
        f"divided_by_{name}",
        "    weights =",
        f"    scores = scores / {scale}\n    weights =",
        "Your weights are those of other scores: you divide the scores by a number before "
        "softmax. Which line of the task asks for a scale here?",
    )
wrong(
    "detached",
    "scores.masked_fill",
    "scores.detach().masked_fill",
    "No gradient, or not all of it, flows back to the scores: a `.detach()`, `.data`, `no_grad` or "
    "a detour through numpy cuts torch's graph. Which line is it?",
)


@exercise.mistake(
    "Your denominator has one exponential too many, exp(0) or 1, as if each row had one more key. "
    "What must the weights of a row with an allowed key sum to?"
)
def one_key_too_many(scores, mask):
    filled = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    more = torch.cat([filled, torch.zeros_like(filled[..., :1])], -1)
    return torch.softmax(more, -1)[..., :-1].masked_fill(~mask, 0.0)


@exercise.mistake(
    "A row without an allowed key puts all its weight on one key. Which keys may its query attend "
    "to?"
)
def first_key_for_nothing(scores, mask):
    first = torch.zeros(scores.shape, dtype=torch.bool)
    first[..., 0] = True
    saved = torch.where(mask.any(-1, keepdim=True), mask, first)
    low = torch.finfo(scores.dtype).min
    return torch.softmax(scores.masked_fill(~saved, low), -1)


@exercise.mistake(
    "You drop the mask for rows without an allowed key, so they attend to everything, gradients "
    "included. What should their weights be?"
)
def everything_for_nothing(scores, mask):
    empty = ~mask.any(-1, keepdim=True)
    return torch.softmax(scores.masked_fill(~(mask | empty), -math.inf), -1)


SCORES_OVERWRITTEN = (
    "Your code writes into the scores that it was given (`masked_fill_`, an assignment to `[…]`). "
    "What does the same and makes a new tensor?"
)


@exercise.mistake(SCORES_OVERWRITTEN)
def in_place(scores, mask):
    low = torch.finfo(scores.dtype).min
    return torch.softmax(scores.masked_fill_(~mask, low), -1).masked_fill(~mask, 0.0)


wrong(
    "infinity_in_place", "scores.masked_fill(~mask", "scores.masked_fill_(~mask", SCORES_OVERWRITTEN
)


wrong(
    "maximum_subtracted_in_place",
    "    empty =",
    "    scores -= scores.amax(-1, keepdim=True)\n    empty =",
    "You subtract a maximum in the scores that you were given (`-=`). This changes the caller's "
    "numbers, and it stops the backward pass. What does the same and makes a new tensor?",
)


@exercise.mistake(
    "As soon as one row has no allowed key, your whole result is 0: you ask `mask.any()` or "
    "`mask.all()` of the whole mask. Along which axis should you ask?"
)
def everything_zero(scores, mask):
    if not mask.any(-1).all():
        return scores.masked_fill(~mask, 0.0) * 0.0
    return torch.softmax(scores.masked_fill(~mask, -math.inf), -1)


@exercise.mistake(
    "You ask the whole mask whether it allows anything, so one row without an allowed key among "
    "others is still NaN. Which part of the mask belongs to one query?"
)
def asked_of_the_whole_mask(scores, mask):
    if not mask.any():
        return scores.masked_fill(~mask, 0.0) * 0.0
    return torch.softmax(scores.masked_fill(~mask, -math.inf), -1)
