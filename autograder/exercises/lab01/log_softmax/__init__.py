"""log_softmax and logsumexp: logarithms that stay finite when probabilities underflow."""

from __future__ import annotations

import math

import torch

from attnlab.checking.observation import dtype_of
from attnlab.softmax import log_softmax, logsumexp, softmax
from gradekit.exercise import Exercise

SAME = "the same gradient, more work"
exercise = Exercise(
    logsumexp,
    log_softmax,
    uses=[softmax],
    forbids=[
        "torch.log_softmax",
        "torch.nn.functional.log_softmax",
        "torch.Tensor.log_softmax",
        "torch.special.log_softmax",
        "torch.logsumexp",
        "torch.Tensor.logsumexp",
        "torch.special.logsumexp",
        "torch.logcumsumexp",
        "torch.Tensor.logcumsumexp",
        "torch.nn.functional.cross_entropy",
    ],
    equivalent={
        "logsumexp: `x.amax(dim, keepdim=True).detach()` → `x.amax(dim, keepdim=True)` in "
        "`top = x.amax(dim, keepdim=True).detach().clamp(min=torch.finfo(x.dtype).min)`": SAME,
        "log_softmax: `x.amax(dim, keepdim=True).detach()` → `x.amax(dim, keepdim=True)` in "
        "`shifted = x - x.amax(dim, keepdim=True).detach()`": SAME,
    },
)


def not_finite(function, x):
    """How many results in float16 are infinite or NaN."""
    return {
        f"all about {higher} higher": (~function((x + higher).half(), dim=-1).isfinite()).sum()
        for higher in (14, 60)
    }


def dtypes_of(function, x):
    """The dtype of a function's result for each of two dtypes of the scores."""
    return {
        "dtype of float32": dtype_of(function(x.float(), dim=-1)),
        "dtype of bfloat16": dtype_of(function(x.bfloat16(), dim=-1)),
    }


@exercise.check(points=0.5)
def logsumexp_shapes(lab, draw):
    """logsumexp drops the axis and keeps the dtype."""
    x, with_an_axis_of_one = draw.normal(2, 3, 5), draw.normal(3, 1, 5)
    return {
        "shape": list(lab.logsumexp(x, dim=1).shape),
        "scores (3, 1, 5), shape": list(lab.logsumexp(with_an_axis_of_one).shape),
        **dtypes_of(lab.logsumexp, x),
    }


@exercise.check(points=0.5)
def log_softmax_shapes(lab, draw):
    """log_softmax keeps the shape and the dtype."""
    x, with_an_axis_of_one = draw.normal(2, 3, 5), draw.normal(3, 1, 5)
    return {
        "shape": list(lab.log_softmax(x, dim=1).shape),
        "scores (3, 1, 5), shape": list(lab.log_softmax(with_an_axis_of_one).shape),
        **dtypes_of(lab.log_softmax, x),
    }


@exercise.check(points=1)
def logsumexp_values(lab, draw):
    """logsumexp is right along every axis."""
    x = draw.normal(3, 5, 7)
    return {
        "no dim given": lab.logsumexp(x),
        "dim=0": lab.logsumexp(x, dim=0),
        "dim=1": lab.logsumexp(x, 1),
        "dim=-1": lab.logsumexp(x, dim=-1),
        "dim=-2": lab.logsumexp(x, dim=-2),
        "one dimension": lab.logsumexp(draw.normal(11), dim=0),
        "equal scores": lab.logsumexp(draw.integers(0, 2, 4, 9).double()),
        "not contiguous": lab.logsumexp(draw.strided(draw.normal(2, 5, 3)), dim=1),
    }


@exercise.check(points=1)
def log_softmax_values(lab, draw):
    """log_softmax is right along every axis."""
    x = draw.normal(3, 5, 7)
    return {
        "no dim given": lab.log_softmax(x),
        "dim=0": lab.log_softmax(x, dim=0),
        "dim=1": lab.log_softmax(x, 1),
        "dim=-1": lab.log_softmax(x, dim=-1),
        "dim=-2": lab.log_softmax(x, dim=-2),
        "one dimension": lab.log_softmax(draw.normal(11), dim=0),
        "equal scores": lab.log_softmax(draw.integers(0, 2, 4, 9).double()),
        "not contiguous": lab.log_softmax(draw.strided(draw.normal(2, 5, 3)), dim=1),
    }


@exercise.check(points=0.5, hidden=True)
def other_shapes(lab, draw):
    """Both are right for axes of length 1, for equal axes, and for more and fewer axes."""

    def every_dim(shape):
        x = draw.normal(*shape)
        dims = range(len(shape))
        return {
            "logsumexp": [lab.logsumexp(x, dim) for dim in dims],
            "log_softmax": [lab.log_softmax(x, dim) for dim in dims],
        }

    return draw.each_size(every_dim, shape=(3, 5, 7))


@exercise.check(points=1)
def logsumexp_far_from_zero(lab, draw):
    """logsumexp stays finite for scores in the tens of thousands, on both sides of zero."""
    x = draw.normal(4, 3, 6)
    offsets = torch.tensor([0.0, 1e3, -1e3, 1e4], dtype=torch.float64)[:, None, None]
    return {
        "last axis": lab.logsumexp(x + offsets, dim=-1),
        "middle axis": lab.logsumexp(x + offsets, dim=1),
        "first axis": lab.logsumexp(x + offsets, dim=0),
        "all very low": lab.logsumexp(x - 2e4, dim=-1),
        "number of results that are infinite or NaN in float16, where exp(12) is": not_finite(
            lab.logsumexp, x
        ),
    }


@exercise.check(points=1)
def log_softmax_of_the_unlikely(lab, draw):
    """log_softmax stays finite if the probability itself is too small for a float."""
    x = draw.normal(4, 3, 6)
    offsets = torch.tensor([0.0, 1e3, -1e3, 1e4], dtype=torch.float64)[:, None, None]
    below = 200.0 * (x[0] - x[0].amax(-1, keepdim=True))
    return {
        "entries far apart": lab.log_softmax(x + offsets, dim=0),
        "slices far apart": lab.log_softmax(x + offsets, dim=-1),
        "float32": lab.log_softmax(below.float(), dim=-1),
        "number of results that are infinite or NaN in float16, where exp(12) is": not_finite(
            lab.log_softmax, x
        ),
    }


@exercise.check(points=0.5)
def digits_kept(lab, draw):
    """A large number added to all scores costs log_softmax no digits, in float32 either."""
    # Multiples of 1/64 are exact in float32, around 20,000, too.
    x = draw.integers(-600, 600, 4, 6).double() / 64
    apart = 2e4 * torch.tensor([0.0, 1, -1, 1], dtype=torch.float64)[:, None]
    return {
        "scores around 20,000": lab.log_softmax((x + 2e4).float(), dim=-1),
        "scores around -20,000": lab.log_softmax((x - 2e4).float(), dim=0),
        "rows around 0, 20,000 and -20,000": lab.log_softmax((x + apart).float(), dim=-1),
    }


def far_from_zero(draw):
    """Scores whose exponentials overflow, and scores whose exponentials underflow."""
    x = draw.normal(4, 6)
    return ("very large scores", x + 2e4), ("very low scores", x - 2e4)


def changed_by_minus_infinity(function, x):
    """How many results change if each row gets one more score, -inf, in some rows or in all."""
    # Infinity and NaN for the scores themselves cost another check.
    one_more = torch.nn.functional.pad(x, (0, 1), value=-math.inf)
    far_below = one_more.clone()
    far_below[::2, -1] = x[::2].amin(-1) - 5e3
    usual = function(x)
    return sum(
        (~torch.isclose(function(more), usual, rtol=0, atol=1e-9, equal_nan=True)).sum()
        for more in (one_more, far_below)
    )


@exercise.check(points=0.5)
def all_minus_infinity(lab, draw):
    """logsumexp is -inf for a slice that is all -inf; in others, a score of -inf adds nothing."""
    x = draw.normal(4, 6)
    x[2] = -math.inf
    return {
        "one row all -inf": lab.logsumexp(x, dim=-1),
        "one column all -inf": lab.logsumexp(x.T, dim=0),
        "one row all -inf, the others very large": lab.logsumexp(x + 2e4, dim=-1),
        "number of rows that one more score, -inf, changes": {
            name: changed_by_minus_infinity(lab.logsumexp, scores)
            for name, scores in far_from_zero(draw)
        },
    }


@exercise.check(points=0.5, hidden=True)
def minus_infinity(lab, draw):
    """A single score of -inf adds nothing to logsumexp, and its log_softmax is -inf."""
    x = draw.normal(4, 6)
    x[0, 2] = x[1, 0] = x[1, 5] = -math.inf
    x[3, :3] = -math.inf
    return {
        "logsumexp": lab.logsumexp(x, dim=-1),
        "log_softmax": lab.log_softmax(x, dim=-1),
        "number of log-probabilities that one more score, -inf, changes": {
            name: changed_by_minus_infinity(lambda x: lab.log_softmax(x)[:, :6], scores)
            for name, scores in far_from_zero(draw)
        },
    }


@exercise.check(points=0.5)
def gradients(lab, draw):
    """Gradients flow back through both, even if some scores are -inf."""
    x = draw.normal(2, 5, 3)
    hidden = x.clone()
    hidden[:, :2] = hidden[0, 4] = -math.inf
    return {
        "logsumexp": draw.gradients(lambda x: lab.logsumexp(x, dim=1), x),
        "log_softmax": draw.gradients(lambda x: lab.log_softmax(x, dim=1), x),
        "logsumexp, some scores -inf": draw.gradients(lambda x: lab.logsumexp(x, dim=1), hidden),
    }


@exercise.check(points=0.5, hidden=True)
def input_kept(lab, draw):
    """Both leave their input unchanged."""
    x = draw.normal(2, 5, 3)
    # A version may replace scores of -inf where they stand.
    some = draw.normal(4, 6).masked_fill(torch.arange(6) == 2, -math.inf)
    slice_of_nothing = some.masked_fill(torch.arange(4)[:, None] == 1, -math.inf)
    shapes = [
        list(lab.logsumexp(x, dim=0).shape),
        list(lab.logsumexp(draw.strided(slice_of_nothing)).shape),
        list(lab.log_softmax(x, dim=0).shape),
        list(lab.log_softmax(draw.strided(some)).shape),
    ]
    # A function that returns nothing of use leaves its input unchanged, too.
    return {"input unchanged": draw.untouched(), "shapes of the results": shapes}


exercise.promises(
    {
        "Natural logarithm of Σ_j exp(x_j) along one axis, without overflow or underflow.": (
            "logsumexp_values logsumexp_far_from_zero"
        ),
        "x: scores with any number of axes, at least one, and none of them empty; floating point; "
        "-inf is allowed, +inf does not occur. dim: the axis to sum over": (
            "other_shapes minus_infinity"
        ),
        "the axis to sum over; may be negative": "logsumexp_values",
        "The shape of `x` without the axis `dim`, in the dtype of `x`.": (
            "logsumexp_shapes other_shapes"
        ),
        "If all scores of a slice are -inf, the result is -inf": "all_minus_infinity",
        "Scores in the tens of thousands are safe.": "logsumexp_far_from_zero",
        "Scores in the tens of thousands are safe. Gradients flow back to `x`, and `x` itself "
        "stays unchanged.": "gradients input_kept",
        "exact even if the probability itself is 0": "log_softmax_of_the_unlikely",
        "not occur. (No slice along `dim` is -inf throughout.)": "other_shapes minus_infinity",
        "the axis whose probabilities sum to 1; may be negative": "log_softmax_values",
        "Log-probabilities, shape and dtype of `x`.": "log_softmax_shapes other_shapes",
        "A score 5000 below the others": "log_softmax_of_the_unlikely",
        "A large number added to every score costs no digits": "digits_kept",
        "their differences around 0. Gradients flow back to `x`, and `x` itself stays unchanged.": (
            "gradients input_kept"
        ),
    },
)
