"""Wrong versions of `safe_softmax` in which a forbidden key drops out too late, or not wholly."""

import math

import torch

from . import exercise
from .also_right import exponentials_by_their_sum, filled_twice

SCALED_UP = (
    "Forbidden keys count in your softmax, or in the maximum that you subtract, and drop out only "
    "afterwards. One huge forbidden score leaves nothing of the others. When must it drop out?"
)


@exercise.mistake(SCALED_UP)
def scaled_up_afterwards(scores, mask):
    p = torch.softmax(scores, -1).masked_fill(~mask, 0.0)
    total = p.sum(-1, keepdim=True)
    return p / torch.where(total == 0, 1.0, total)


EPSILONS = {
    "large_epsilon": "1e-6",
    "epsilon": "1e-8",
    "small_epsilon": "1e-9",
    "smallest_epsilon": "1e-12",
}
SCALED_UP_AND_EPSILON = (
    "Forbidden keys count in your softmax, or in the maximum that you subtract, and drop out only "
    "afterwards: one huge forbidden score leaves nothing of the others. A small number in the "
    "denominator takes a little from every row, too. When must a forbidden key drop out?"
)
wrong = exercise.edits(filled_twice)
for name, epsilon in EPSILONS.items():
    wrong.several(
        f"scaled_up_with_{name}",
        {
            "scores.masked_fill(~mask, low).masked_fill(empty, 0.0), -1": "scores, -1",
            "return weights.masked_fill(~mask, 0.0)": "weights = weights * mask\n"
            f"    return weights / (weights.sum(-1, keepdim=True) + {epsilon})",
        },
        SCALED_UP_AND_EPSILON,
    )
DIVIDED_AGAIN = (
    "You put a number in place of forbidden scores, remove their weights and divide by the rest. "
    "If all allowed scores are far below that number, there is no rest. When must a forbidden key "
    "drop out?"
)
NOTHING_LEFT = (
    "You put a number in place of forbidden scores, remove their weights and divide by the rest. "
    "There is no rest in a row without an allowed key, nor in one whose allowed scores are far "
    "below that number. When must a forbidden key drop out?"
)
RESTS = {
    "": ("total.masked_fill(total == 0, 1.0)", DIVIDED_AGAIN),
    "_nan": ("total.masked_fill(empty, 1.0)", DIVIDED_AGAIN),
    "_and_lower_limit": ("total.clamp_min(1e-12)", DIVIDED_AGAIN),
    "_and_higher_limit": ("total.clamp_min(1e-9)", DIVIDED_AGAIN),
    "_and_nothing": ("total", NOTHING_LEFT),
} | {f"_and_{name}": (f"(total + {epsilon})", DIVIDED_AGAIN) for name, epsilon in EPSILONS.items()}
for name, number in (("0", "0.0"), ("minus_10", "-10.0"), ("minus_10000", "-1e4")):
    for which, (rest, advice) in RESTS.items():
        wrong.several(
            f"filled_with_{name}_and_divided_again{which}",
            {
                "low = -math.inf": f"low = {number}",
                "return weights.masked_fill(~mask, 0.0)": "weights = weights * mask\n"
                f"    total = weights.sum(-1, keepdim=True)\n    return weights / {rest}",
            },
            advice,
        )
ADDED = "torch.zeros_like(scores).masked_fill(~mask, low)"
for name, low, empty in (
    ("multiplied_and_added", "-math.inf", {}),
    (
        "multiplied_and_added_but_in_empty_rows",
        "-math.inf",
        {".masked_fill(empty, 0.0), -1": ", -1"},
    ),
    ("multiplied_and_a_finite_number_added", "-6e4", {}),
):
    bias = f"{ADDED}.masked_fill(empty, 0.0)" if empty else ADDED
    wrong.several(
        name,
        empty
        | {"low = -math.inf": f"low = {low}"}
        | {"scores.masked_fill(~mask, low)": f"(scores * mask + {bias})"},
        "You multiply the scores by the mask before you add to them. What are infinity times 0 and "
        "NaN times 0? Which call replaces a number instead of changing it?",
    )

MULTIPLIED = (
    "You multiply the scores by the mask. A forbidden score becomes 0, which can be far above the "
    "allowed ones, and infinity or NaN times 0 is NaN. What replaces a number instead of changing "
    "it?"
)


@exercise.mistake(MULTIPLIED)
def multiplied_by_the_mask(scores, mask):
    return torch.softmax(scores * mask, -1) * mask


@exercise.mistake(MULTIPLIED)
def multiplied_alone(scores, mask):
    return torch.softmax(scores * mask, -1)


@exercise.mistake(MULTIPLIED)
def multiplied_and_scaled_up(scores, mask):
    p = torch.softmax(scores * mask, -1) * mask
    return p / p.sum(-1, keepdim=True).clamp(min=1e-12)


QUOTIENTS = {which: f"weights / {rest}" for which, (rest, _) in RESTS.items()}
QUOTIENTS["_and_repaired"] = "(weights / total).nan_to_num(0.0)"
for name, inside, advice in (
    ("scaled_up", "scores", SCALED_UP),
    ("multiplied_and_scaled_up", "scores * mask", MULTIPLIED),
):
    for which, quotient in QUOTIENTS.items():
        if inside == "scores" and "epsilon" in which:
            continue  # above
        wrong.several(
            f"{name}_again{which}",
            {
                "scores.masked_fill(~mask, low).masked_fill(empty, 0.0), -1": f"{inside}, -1",
                "return weights.masked_fill(~mask, 0.0)": "weights = weights * mask\n"
                f"    total = weights.sum(-1, keepdim=True)\n    return {quotient}",
            },
            advice,
        )

wrong = exercise.edits(exponentials_by_their_sum)

TOTAL = "total.masked_fill(total == 0, 1.0)"
wrong.several(
    "maximum_of_all_keys",
    {"filled.amax": "scores.amax", "(filled - top)": "(scores - top)"},
    SCALED_UP,
)
TOP = "filled.amax(-1, keepdim=True)"
ZERO_IF_EMPTY = f"{TOP}.masked_fill(~mask.any(-1, keepdim=True), 0.0)"
TOPS = {
    "lowest": TOP,
    "lowest_and_detached": f"{TOP}.detach()",
    "zero": ZERO_IF_EMPTY,
    "zero_and_detached": f"{ZERO_IF_EMPTY}.detach()",
}
for name, top in TOPS.items():
    wrong.several(
        f"chosen_after_exp_{name}",
        {TOP: top, "(filled - top).exp().masked_fill(": "(scores - top).exp().masked_fill("},
        "You take exp of forbidden scores, too, and drop the results afterwards. With a huge "
        "forbidden score the gradient is 0 times infinity. When must a forbidden key drop out?",
    )
wrong(
    "multiplied_after_exp",
    "(filled - top).exp().masked_fill(~mask, 0.0)",
    "(scores - top).exp() * mask",
    "You take exp of forbidden scores, too, and multiply the results by 0. What is exp of an "
    "infinite score, and what does 0 make of it?",
)
for name, top in (
    ("maximum_of_all_rows", "filled.max()"),
    ("maximum_of_each_sentence", "filled.amax((-2, -1), keepdim=True)"),
):
    for which, total in (
        ("", TOTAL),
        ("_nan", "total.masked_fill(~mask.any(-1, keepdim=True), 1.0)"),
    ):
        wrong.several(
            f"{name}{which}",
            {TOP: top, TOTAL: total},
            "You subtract one maximum from several rows, so all exponentials of a row far below it "
            "are rounded to 0. From which scores should a maximum be subtracted?",
        )
wrong(
    "maximum_over_finite_scores",
    TOP,
    "scores.nan_to_num(0.0, 0.0, 0.0).amax(-1, keepdim=True)",
    SCALED_UP,
)
wrong(
    "maximum_over_queries",
    TOP,
    "filled.amax(-2, keepdim=True)",
    "The maximum that you subtract is taken along the queries, so the keys of one row lose "
    "different amounts. What can be subtracted from a row without changing its softmax?",
)


AS_AN_INDEX = (
    "You use the mask as an index, which does not broadcast: it would need the axes of the scores "
    "at full length. Which call takes a mask with fewer axes?"
)


@exercise.mistake(AS_AN_INDEX)
def rows_by_index(scores, mask):
    weights, live = torch.zeros_like(scores), mask.any(-1)
    filled = scores[live].masked_fill(~mask[live], -math.inf)
    weights[live] = torch.softmax(filled, -1)
    return weights


@exercise.mistake(AS_AN_INDEX)
def entries_by_index(scores, mask):
    filled = scores.clone()
    filled[~mask] = torch.finfo(scores.dtype).min
    return torch.softmax(filled, -1) * mask


@exercise.mistake(
    "You count the forbidden keys of a row in the mask as it is given, and compare with the number "
    "of keys. A mask whose last axis has length 1 has one entry for all keys. What would "
    "broadcasting make of it?"
)
def forbidden_keys_counted(scores, mask):
    empty = (~mask).sum(-1, keepdim=True) == scores.shape[-1]
    filled = scores.masked_fill(~mask, -math.inf).masked_fill(empty, 0.0)
    return torch.softmax(filled, -1) * mask
