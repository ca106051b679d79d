"""safe_softmax: weights over allowed keys only, and zeros for a query that has none."""

from __future__ import annotations

import math

import torch

from attnlab.checking.observation import dtype_of
from attnlab.masks import safe_softmax
from gradekit.exercise import Exercise

WEIGHTS = "weights = softmax(scores.masked_fill(~mask, -math.inf).masked_fill(empty, 0))"
exercise = Exercise(
    safe_softmax,
    equivalent={
        "safe_softmax: `scores.masked_fill(~mask, -math.inf).masked_fill(empty, 0)` → "
        f"`scores.masked_fill(~mask, -math.inf)` in `{WEIGHTS}`": (
            "an empty row is NaN for a moment, and masked afterwards, as its gradient is"
        ),
        f"safe_softmax: `0` → `1` in `{WEIGHTS}`": "any finite number will do in an empty row",
    },
    forbids=["aten._safe_softmax", "torch.nn.functional.scaled_dot_product_attention"],
)


def random_mask(draw, *shape):
    """True in about half of the places; key 1 is always allowed, key 3 never."""
    mask = draw.uniform(*shape) > 0.5
    mask[..., 1], mask[..., 3:4] = True, False
    return mask


def ask(lab, scores, mask):
    """The weights for copies of both: a version that writes into one fails one check alone."""
    return lab.safe_softmax(scores.clone(), mask.clone())


@exercise.check(points=1)
def shape_and_dtype(lab, draw):
    """Has the shape and the dtype of the scores."""
    Lk = draw.integers(6, 14).item()
    scores, mask = draw.normal(2, 3, 5, Lk), random_mask(draw, 2, 1, 1, Lk)
    seen = {"shape": list(ask(lab, scores, mask).shape)}
    for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
        out = ask(lab, scores.to(dtype), mask)
        seen[f"dtype of {dtype_of(scores.to(dtype))}"] = dtype_of(out)
    return seen


@exercise.check(points=1.5)
def allowed_keys(lab, draw):
    """Softmax over the allowed keys of each row and 0 for the others; any mask that fits."""
    scores, some = draw.normal(2, 3, 5, 7), random_mask(draw, 5, 7)
    weights = ask(lab, scores, some)
    return {
        "mask (5, 7)": weights,
        "forbidden weights that are not exactly 0": int((weights[..., ~some] != 0).sum()),
        "mask (2, 1, 1, 7)": ask(lab, scores, random_mask(draw, 2, 1, 1, 7)),
        "mask (2, 3, 5, 7)": ask(lab, scores, random_mask(draw, 2, 3, 5, 7)),
        "everything allowed": ask(lab, scores, torch.ones(5, 7, dtype=torch.bool)),
        "one key allowed": ask(lab, scores[0, 0], torch.eye(5, 7) > 0),
        "not contiguous": lab.safe_softmax(draw.strided(scores), random_mask(draw, 5, 7)),
    }


@exercise.check(points=1.5)
def nothing_allowed(lab, draw):
    """A row without an allowed key is all 0; the other rows stay exact."""
    scores, mask = draw.normal(2, 3, 5, 7), random_mask(draw, 2, 1, 5, 7)
    mask[0, :, 2] = mask[1, :, 0] = mask[1, :, 4] = False
    nan = scores.masked_fill(~mask.any(-1, keepdim=True), math.nan)
    return {
        "some rows": ask(lab, scores, mask),
        "all rows": ask(lab, scores, torch.zeros(5, 7, dtype=torch.bool)),
        "some rows, with a mask (5, 1)": ask(lab, scores, torch.arange(5)[:, None] > 2),
        "float16": ask(lab, scores.half(), mask),
        "some rows, with NaN for scores": ask(lab, nan, mask),
    }


def to_scores(lab, draw, scores, mask):
    """The gradient of the weights, back to the scores."""
    return draw.gradients(lambda x: ask(lab, x, mask), scores)


@exercise.check(points=1.5)
def gradients(lab, draw):
    """Gradients are right for allowed scores, and 0, not NaN, for forbidden ones and empty rows."""
    scores, mask = draw.normal(2, 3, 5), random_mask(draw, 2, 3, 5)
    empty = mask.clone()
    empty[0, 1] = empty[1, 2] = False
    return {
        "each row has a key": to_scores(lab, draw, scores, mask),
        "some rows have none": to_scores(lab, draw, scores, empty),
    }


@exercise.check(points=0.5)
def gradients_of_infinite_scores(lab, draw):
    """Gradients stay right, not NaN, if forbidden scores are -inf already."""
    scores, mask = draw.normal(2, 3, 5), random_mask(draw, 2, 3, 5)
    mask[0, 1] = mask[1, 2] = False
    low = scores.masked_fill(~mask, -math.inf)
    return {"some rows have no key": to_scores(lab, draw, low, mask)}


@exercise.check(points=0.5)
def a_forbidden_score_stands_out(lab, draw):
    """A forbidden score has no effect, even if it is huge, infinite or NaN."""
    scores, mask = draw.normal(2, 3, 7), random_mask(draw, 2, 3, 7)
    return {
        f"forbidden scores are {value:g}": ask(lab, scores.masked_fill(~mask, value), mask)
        for value in (1e6, math.inf, math.nan)
    }


def not_one(weights):
    """In how many rows the weights do not sum to 1, to thirteen digits."""
    return int((~((weights.sum(-1) - 1).abs() < 1e-13)).sum())


@exercise.check(points=0.5)
def far_below_zero(lab, draw):
    """Allowed scores may be far below 0, and rows far apart; the sums are exact."""
    scores, mask = draw.normal(3, 5, 7), random_mask(draw, 3, 5, 7)
    low = ask(lab, scores - 1e12, mask)
    return {
        "all at -1e12": low,
        "all at -2e3": ask(lab, scores - 2e3, mask),
        "rows far apart": ask(lab, scores * 1e3 + draw.normal(3, 5, 1) * 1e5, mask),
        "sums of rows that are not 1": not_one(low),
    }


@exercise.check(points=0.5)
def lowest_numbers(lab, draw):
    """Weights sum to 1 even if the only allowed score is the lowest number of its dtype."""
    allowed = torch.tensor([[True, False, False], [True, False, True]])
    seen = {}
    for dtype in (torch.float64, torch.float16):
        scores = draw.normal(2, 3).to(dtype)
        scores[:, 0] = torch.finfo(dtype).min
        seen[dtype_of(scores)] = ask(lab, scores, allowed)
    return seen


@exercise.check(points=0.5)
def inputs_kept(lab, draw):
    """Leaves scores and mask unchanged."""
    scores, mask = draw.normal(2, 3, 5), random_mask(draw, 3, 5)
    some_empty = mask.clone()
    some_empty[1] = False
    given = {"scores": scores, "mask": mask, "mask with an empty row": some_empty}
    before = {name: x.clone() for name, x in given.items()}
    lab.safe_softmax(scores, mask)
    lab.safe_softmax(scores.clone(), some_empty)
    return {f"{name} unchanged": torch.equal(x, before[name]) for name, x in given.items()}


@exercise.check(points=1, hidden=True)
def other_sizes(lab, draw):
    """Is right for one key, one query, and any number of axes."""

    def ask(batch, Lq, Lk):
        mask = random_mask(draw, Lq, Lk + 1)[..., 1:]
        return lab.safe_softmax(draw.normal(*batch, Lq, Lk), mask)

    return {
        "sizes": draw.each_size(ask, batch=(2,), Lq=4, Lk=5),
        "one row": lab.safe_softmax(draw.normal(5), torch.arange(5) > 1),
        "a mask (Lk,), as many rows as keys": lab.safe_softmax(
            draw.normal(5, 5), torch.arange(5) > 1
        ),
    }


@exercise.check(points=1, hidden=True)
def more_gradients(lab, draw):
    """Gradients are right if no row has a key, and if one mask serves all sentences."""
    scores = draw.normal(2, 3, 5)
    nothing, one_mask = torch.zeros(3, 5, dtype=torch.bool), random_mask(draw, 3, 5)
    one_mask[2] = False
    return {
        # The term of 0 keeps the graph of an answer that makes its zeros from nothing.
        "no row has one": draw.gradients(lambda x: ask(lab, x, nothing) + 0 * x, scores),
        "one mask for all": to_scores(lab, draw, scores, one_mask),
    }


@exercise.check(points=1, hidden=True)
def forbidden_scores_do_not_matter(lab, draw):
    """Scores of forbidden keys have no effect: not huge numbers, not infinity, not NaN."""
    scores, mask = draw.normal(2, 3, 7), random_mask(draw, 2, 3, 7)
    seen = {}
    for value in (1e6, -1e6, math.inf, -math.inf, math.nan):
        filled = scores.masked_fill(~mask, value)
        seen[f"{value:g}"] = {
            "weights": ask(lab, filled, mask),
            "gradients": to_scores(lab, draw, filled, mask),
        }
    return seen


@exercise.check(points=1, hidden=True)
def far_from_zero(lab, draw):
    """Allowed scores may be far from 0, on either side; the sums are exact."""
    scores, mask = draw.normal(3, 5, 7), random_mask(draw, 3, 5, 7)
    towering = (scores - 50.0 * torch.arange(7)).masked_fill(~mask, 3.0)
    weights = ask(lab, towering, mask)
    return {
        "all at -1e12": ask(lab, scores - 1e12, mask),
        "all at -5e3": ask(lab, scores - 5e3, mask),
        "all at 1e4": ask(lab, scores + 1e4, mask),
        "rows far apart": ask(lab, scores * 1e3 + draw.normal(3, 5, 1) * 1e5, mask),
        "sums of rows that are not 1": not_one(weights),
    }
