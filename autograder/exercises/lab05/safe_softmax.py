"""safe_softmax: weights over allowed keys only, and zeros for a query that has none."""

from __future__ import annotations

import math

import torch

from attnlab.checking.observation import dtype_of
from attnlab.masks import safe_softmax
from gradekit.exercise import Exercise

exercise = Exercise(
    safe_softmax,
    forbids=["aten._safe_softmax", "torch.nn.functional.scaled_dot_product_attention"],
)


def random_mask(draw, *shape):
    """True in about half of the places, and once at least in each row."""
    mask = draw.uniform(*shape) > 0.5
    mask[..., 1] = True
    return mask


@exercise.check(points=1.5)
def shape_and_dtype(lab, draw):
    """Has the shape and the dtype of the scores."""
    scores, mask = draw.normal(2, 3, 5, 7), random_mask(draw, 2, 1, 1, 7)
    seen = {"shape": list(lab.safe_softmax(scores, mask).shape)}
    for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
        out = lab.safe_softmax(scores.to(dtype), mask)
        seen[f"dtype of {dtype_of(scores.to(dtype))}"] = dtype_of(out)
    return seen


@exercise.check(points=2)
def allowed_keys(lab, draw):
    """Is the softmax over the allowed keys of each row, 0 for the others; any mask that fits."""
    scores = draw.normal(2, 3, 5, 7)
    return {
        "mask (5, 7)": lab.safe_softmax(scores, random_mask(draw, 5, 7)),
        "mask (2, 1, 1, 7)": lab.safe_softmax(scores, random_mask(draw, 2, 1, 1, 7)),
        "mask (2, 3, 5, 7)": lab.safe_softmax(scores, random_mask(draw, 2, 3, 5, 7)),
        "everything allowed": lab.safe_softmax(scores, torch.ones(5, 7, dtype=torch.bool)),
        "one key allowed": lab.safe_softmax(scores[0, 0], torch.eye(5, 7) > 0),
        "not contiguous": lab.safe_softmax(draw.strided(scores), random_mask(draw, 5, 7)),
    }


@exercise.check(points=2)
def nothing_allowed(lab, draw):
    """A row without an allowed key is all 0, and the other rows stay exact."""
    scores, mask = draw.normal(2, 3, 5, 7), random_mask(draw, 2, 1, 5, 7)
    mask[0, :, 2] = mask[1, :, 0] = mask[1, :, 4] = False
    return {
        "some rows": lab.safe_softmax(scores, mask),
        "all rows": lab.safe_softmax(scores, torch.zeros(5, 7, dtype=torch.bool)),
        "float16": lab.safe_softmax(scores.half(), mask),
    }


@exercise.check(points=2.5, hidden=True)
def gradients(lab, draw):
    """Gradients are right for allowed scores and 0, not NaN, for forbidden ones and empty rows."""
    scores, mask = draw.normal(2, 3, 5), random_mask(draw, 2, 3, 5)
    empty = mask.clone()
    empty[0, 1] = empty[1, 2] = False
    nothing, one_mask = torch.zeros(3, 5, dtype=torch.bool), random_mask(draw, 3, 5)
    one_mask[2] = False
    return {
        "each row has a key": draw.gradients(lambda x: lab.safe_softmax(x, mask), scores),
        "some rows have none": draw.gradients(lambda x: lab.safe_softmax(x, empty), scores),
        "no row has one": draw.gradients(lambda x: lab.safe_softmax(x, nothing), scores),
        "one mask for all": draw.gradients(lambda x: lab.safe_softmax(x, one_mask), scores),
    }


@exercise.check(points=1.5, hidden=True)
def forbidden_scores_do_not_matter(lab, draw):
    """What stands at forbidden keys changes nothing: huge numbers, infinity, NaN."""
    scores, mask = draw.normal(2, 3, 7), random_mask(draw, 2, 3, 7)
    mask[1, 0] = False
    seen = {}
    for value in (1e6, -1e6, math.inf, -math.inf, math.nan):
        there = scores.masked_fill(~mask, value)
        seen[f"{value:g}"] = {
            "weights": lab.safe_softmax(there, mask),
            "gradients": draw.gradients(lambda x: lab.safe_softmax(x, mask), there),
        }
    return seen


@exercise.check(points=1.5, hidden=True)
def far_from_zero(lab, draw):
    """Allowed scores may lie far from 0, on either side; and sums are exact."""
    scores, mask = draw.normal(3, 5, 7), random_mask(draw, 3, 5, 7)
    mask[:, 2] = False
    towering = (scores - 50.0 * torch.arange(7)).masked_fill(~mask, 3.0)
    shares, live = lab.safe_softmax(towering, mask).sum(-1), mask.any(-1).double()
    return {
        "all at -1e12": lab.safe_softmax(scores - 1e12, mask),
        "all at 1e4": lab.safe_softmax(scores + 1e4, mask),
        "rows far apart": lab.safe_softmax(scores * 1e3 + draw.normal(3, 5, 1) * 1e5, mask),
        "distance from 1 below 1e-13": bool(((shares - live).abs() < 1e-13).all()),
    }


@exercise.check(points=1, hidden=True)
def inputs_kept(lab, draw):
    """Leaves scores and mask as they were."""
    scores, mask = draw.normal(2, 3, 5), random_mask(draw, 3, 5)
    mask[1] = False
    then = mask.clone()
    out = lab.safe_softmax(scores, mask)
    return {
        "weights": out,
        "scores as they were": draw.untouched(),
        "mask as it was": torch.equal(mask, then),
    }


@exercise.mistake(
    "Rows without an allowed key are NaN: softmax of nothing but -inf is 0/0. What does softmax "
    "make of a row of equal finite numbers, and what is left to do then?"
)
def nan_for_nothing(scores, mask):
    return torch.softmax(scores.masked_fill(~mask, -math.inf), -1)


@exercise.mistake(
    "A row without an allowed key shares its weight evenly among forbidden keys: they were all "
    "filled with the same number. Which weights do you know to be 0, whatever softmax says?"
)
def uniform_for_nothing(scores, mask):
    return torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1)


@exercise.mistake(
    "The weights are right, the gradients are NaN: you repair NaN after softmax has made it, and "
    "the backward pass still goes through it (0 times NaN is NaN). Can it be kept from reaching "
    "the scores, or from arising?"
)
def nan_repaired_afterwards(scores, mask):
    bias = torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(~mask, -math.inf)
    return torch.softmax(scores + bias, -1).nan_to_num(0.0)


@exercise.mistake(
    "The weights are right, the gradients are NaN: you repair NaN after softmax has made it, and "
    "the backward pass still goes through it (0 times NaN is NaN). Can it be kept from reaching "
    "the scores, or from arising?"
)
def nan_repaired_by_where(scores, mask):
    bias = torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(~mask, -math.inf)
    p = torch.softmax(scores + bias, -1)
    return torch.where(mask.any(-1, keepdim=True), p, 0.0)


@exercise.mistake(
    "You add numbers as in 5.4 and repair NaN afterwards. In half precision those numbers are "
    "finite, so a row without an allowed key is not NaN but spread out evenly; elsewhere NaN "
    "stays in the gradients. Which weights do you know to be 0, whatever softmax says?"
)
def additive_and_repaired(scores, mask):
    half = scores.dtype in (torch.float16, torch.bfloat16)
    low = torch.finfo(scores.dtype).min if half else -math.inf
    bias = torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(~mask, low)
    return torch.softmax(scores + bias, -1).nan_to_num(0.0)


@exercise.mistake(
    "A small number in the denominator saves the empty rows and takes a little from all the "
    "others. Which rows need help?"
)
def epsilon_in_denominator(scores, mask):
    filled = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    exp = (filled - filled.amax(-1, keepdim=True)).exp().masked_fill(~mask, 0.0)
    return exp / (exp.sum(-1, keepdim=True) + (1e-8 if scores.dtype == torch.float64 else 1e-6))


@exercise.mistake(
    "You mask after softmax, so the weights of a row sum to less than 1. When must a forbidden key "
    "leave, before or after the exponential?"
)
def masked_after_softmax(scores, mask):
    return torch.softmax(scores, -1).masked_fill(~mask, 0.0)


@exercise.mistake(
    "Softmax runs over all keys first, and the allowed ones are scaled up to 1 afterwards. One "
    "huge forbidden score leaves nothing to scale. When must a forbidden key leave?"
)
def scaled_up_afterwards(scores, mask):
    p = torch.softmax(scores, -1).masked_fill(~mask, 0.0)
    total = p.sum(-1, keepdim=True)
    return p / torch.where(total == 0, 1.0, total)


@exercise.mistake(
    "The largest score that you subtract is taken over all keys, forbidden ones, too. If one of "
    "those is huge, what is left of the allowed ones?"
)
def maximum_of_all_keys(scores, mask):
    exp = (scores - scores.amax(-1, keepdim=True)).exp().masked_fill(~mask, 0.0)
    total = exp.sum(-1, keepdim=True)
    return exp / total.masked_fill(total == 0, 1.0)


@exercise.mistake(
    "The maximum that you subtract is that of the whole tensor (`.max()` without an axis). A row "
    "far below it comes to nothing but zeros. Over what should the maximum be taken?"
)
def maximum_of_all_rows(scores, mask):
    filled = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    exp = (filled - filled.max()).exp().masked_fill(~mask, 0.0)
    total = exp.sum(-1, keepdim=True)
    return exp / total.masked_fill(total == 0, 1.0)


@exercise.mistake(
    "You take exp(x - logsumexp(x)). Where scores are huge, the logsumexp is one of those huge "
    "numbers plus a small one, and the small one is lost in rounding. What can you subtract first "
    "to make all numbers small?"
)
def by_logsumexp(scores, mask):
    filled = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return (filled - filled.logsumexp(-1, keepdim=True)).exp().masked_fill(~mask, 0.0)


@exercise.mistake(
    "Your denominator has one exponential too many, exp(0) or 1, as if each row had one more key "
    "to look at. The weights of a row with an allowed key sum to 1."
)
def one_key_too_many(scores, mask):
    filled = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    more = torch.cat([filled, torch.zeros_like(filled[..., :1])], -1)
    return torch.softmax(more, -1)[..., :-1].masked_fill(~mask, 0.0)


@exercise.mistake(
    "Your weights are float32 on the way and only dressed up as float64 at the end: they are off "
    "from the eighth digit on. Which call changes the dtype?"
)
def through_float32(scores, mask):
    filled = scores.float().masked_fill(~mask, torch.finfo(torch.float32).min)
    return torch.softmax(filled, -1).masked_fill(~mask, 0.0).to(scores.dtype)


@exercise.mistake(
    "Your code writes into the mask that it was given (`logical_not_`, `|=`, an assignment to "
    "`[…]`). What does the same and makes a new tensor?"
)
def mask_overwritten(scores, mask):
    low = torch.finfo(scores.dtype).min
    weights = torch.softmax(scores.masked_fill(~mask, low), -1).masked_fill(~mask, 0.0)
    mask.fill_(True)
    return weights


@exercise.mistake(
    "No maximum is subtracted: scores at 1e4 overflow, and scores at -1e12 all become 0. Over "
    "which keys should the maximum be taken?"
)
def no_maximum(scores, mask):
    exp = scores.masked_fill(~mask, 0.0).exp().masked_fill(~mask, 0.0)
    total = exp.sum(-1, keepdim=True)
    return exp / total.masked_fill(total == 0, 1.0)


@exercise.mistake(
    "You fill with -1e9, and allowed scores may lie below that: then the forbidden keys win. What "
    "is the lowest number of the dtype at hand?"
)
def filled_with_minus_a_billion(scores, mask):
    low = -6e4 if scores.dtype == torch.float16 else -1e9
    return torch.softmax(scores.masked_fill(~mask, low), -1).masked_fill(~mask, 0.0)


@exercise.mistake(
    "Forbidden scores are set to 0, and exp(0) is 1: they take their share. Which score gives a "
    "weight of 0?"
)
def filled_with_zero(scores, mask):
    p = torch.softmax(scores.masked_fill(~mask, 0.0), -1)
    return p.masked_fill(~mask, 0.0)


@exercise.mistake(
    "You add the mask as numbers to the scores (or multiply). If a forbidden score is infinite or "
    "NaN, so is the sum. What replaces a number instead of changing it?"
)
def mask_added(scores, mask):
    low = torch.finfo(scores.dtype).min
    bias = torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(~mask, low)
    return torch.softmax((scores + bias).clamp(min=low), -1).masked_fill(~mask, 0.0)


@exercise.mistake(
    "The mask is used the wrong way round: the forbidden keys get the weights. What does True mean?"
)
def inverted(scores, mask):
    low = torch.finfo(scores.dtype).min
    return torch.softmax(scores.masked_fill(mask, low), -1).masked_fill(mask, 0.0)


@exercise.mistake(
    "Your weights sum to 1 down the columns. Rows are queries: along which axis does a query's "
    "weight run?"
)
def other_axis(scores, mask):
    low = torch.finfo(scores.dtype).min
    return torch.softmax(scores.masked_fill(~mask, low), -2).masked_fill(~mask, 0.0)


@exercise.mistake(
    "A row without an allowed key puts all its weight on one key. It may look at none of them."
)
def first_key_for_nothing(scores, mask):
    first = torch.zeros(scores.shape, dtype=torch.bool)
    first[..., 0] = True
    saved = torch.where(mask.any(-1, keepdim=True), mask, first)
    low = torch.finfo(scores.dtype).min
    return torch.softmax(scores.masked_fill(~saved, low), -1)


@exercise.mistake(
    "You drop the mask for rows without an allowed key, and they attend to everything, gradients "
    "included. What are their weights to be?"
)
def everything_for_nothing(scores, mask):
    empty = ~mask.any(-1, keepdim=True)
    return torch.softmax(scores.masked_fill(~(mask | empty), -math.inf), -1)


@exercise.mistake(
    "No gradient gets back to the scores, or not all of it: a `.detach()`, `.data`, `no_grad` or a "
    "trip through numpy cuts torch's graph. Which line is it?"
)
def detached(scores, mask):
    return safe_softmax(scores.detach(), mask)


@exercise.mistake(
    "Gradients flow, but not all of them: the denominator depends on the scores, too. What is cut "
    "from torch's graph on that side of your division?"
)
def detached_denominator(scores, mask):
    filled = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    exp = (filled - filled.detach().amax(-1, keepdim=True)).exp().masked_fill(~mask, 0.0)
    total = exp.detach().sum(-1, keepdim=True)
    return exp / total.masked_fill(total == 0, 1.0)


@exercise.mistake(
    "Your code writes into the scores that it was given (`masked_fill_`, an assignment to `[…]`). "
    "What does the same and makes a new tensor?"
)
def in_place(scores, mask):
    low = torch.finfo(scores.dtype).min
    if scores.requires_grad:
        return safe_softmax(scores, mask)
    return torch.softmax(scores.masked_fill_(~mask, low), -1).masked_fill(~mask, 0.0)


@exercise.mistake(
    "Everything you return is float32, whatever came in. Where does your code fix the dtype?"
)
def always_float32(scores, mask):
    low = torch.finfo(torch.float32).min
    return torch.softmax(scores.float().masked_fill(~mask, low), -1).masked_fill(~mask, 0.0)


@exercise.mistake(
    "Where one row has no allowed key, your whole result is 0: `mask.any()` or `mask.all()` was "
    "asked of the whole mask. Along which axis is the question meant?"
)
def everything_zero(scores, mask):
    if not mask.any(-1).all():
        return scores.masked_fill(~mask, 0.0) * 0.0
    return torch.softmax(scores.masked_fill(~mask, -math.inf), -1)


@exercise.also_right
def two_wheres(scores, mask):
    live = mask.any(dim=-1, keepdim=True)
    filled = torch.where(mask, scores, -math.inf)
    filled = torch.where(live, filled, 0.0)
    return torch.where(live & mask, torch.softmax(filled, dim=-1), 0.0)


@exercise.also_right
def replaced_and_repaired(scores, mask):
    return torch.softmax(scores.masked_fill(~mask, -math.inf), dim=-1).nan_to_num(nan=0.0)


@exercise.also_right
def by_hand(scores, mask):
    low = torch.finfo(scores.dtype).min
    kept = torch.where(mask, scores, low)
    top = kept.amax(-1, keepdim=True).detach()
    exp = torch.exp(kept - top) * mask
    total = exp.sum(-1, keepdim=True)
    return exp / torch.where(total > 0, total, torch.ones_like(total))


@exercise.also_right
def unmasked_and_multiplied(scores, mask):
    empty = ~mask.any(-1, keepdim=True)
    clean = scores.masked_fill(~mask, 0.0).masked_fill(~(mask | empty), -math.inf)
    p = torch.nn.functional.softmax(clean, dim=-1)
    return p * mask.to(p.dtype)


@exercise.also_right
def row_by_row(scores, mask):
    masks = mask.expand(scores.shape).reshape(-1, scores.shape[-1])
    out = []
    for row, allowed in zip(scores.reshape(masks.shape), masks, strict=True):
        weights = torch.zeros_like(row)
        if allowed.any():
            weights = weights.masked_scatter(allowed, torch.softmax(row[allowed], 0))
        else:
            weights = weights + row.masked_fill(~allowed, 0.0) * 0.0
        out.append(weights)
    return torch.stack(out).reshape(scores.shape)
