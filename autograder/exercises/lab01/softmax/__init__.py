"""softmax: scores become probabilities, along any axis, without overflow."""

from __future__ import annotations

import math

import torch

from attnlab.checking.judges import Close
from attnlab.checking.observation import dtype_of
from attnlab.softmax import softmax
from gradekit.exercise import Exercise

NO_EMPTY_AXIS = "the task has no empty axis; attention over no keys, in lab 3, has one"
exercise = Exercise(
    softmax,
    forbids=[
        "torch.softmax",
        "torch.nn.functional.softmax",
        "torch.Tensor.softmax",
        "torch.special.softmax",
        "torch.nn.functional.softmin",
        "torch.log_softmax",
        "torch.nn.functional.log_softmax",
        "torch.Tensor.log_softmax",
        "torch.special.log_softmax",
    ],
    equivalent={
        "softmax: `if x.numel() == 0:` → `if False:`": NO_EMPTY_AXIS,
        "softmax: `x.clone()` → `x` in `return x.clone()`": NO_EMPTY_AXIS,
        "softmax: `x.amax(dim, keepdim=True).detach()` → `x.amax(dim, keepdim=True)` in "
        "`exp = (x - x.amax(dim, keepdim=True).detach()).exp()`": "the same gradient, more work",
    },
)


def outside(numbers, low, high):
    """How many numbers are not between the two; NaN is not."""
    return (~((numbers >= low) & (numbers <= high))).sum()


@exercise.check(points=1.5)
def shape_and_dtype(lab, draw):
    """Returns the shape and the dtype of its input."""
    scores = draw.normal(2, 3, 5)
    out = lab.softmax(scores, dim=1)
    return {
        "shape": list(out.shape),
        "dtype of float64": dtype_of(out),
        "dtype of float32": dtype_of(lab.softmax(scores.float(), dim=1)),
        "dtype of float16": dtype_of(lab.softmax(scores.half(), dim=1)),
        "dtype of bfloat16": dtype_of(lab.softmax(scores.bfloat16(), dim=1)),
    }


@exercise.check(points=0.5)
def default_axis(lab, draw):
    """Takes the last axis if no axis is given."""
    return lab.softmax(draw.normal(3, 5, 7))


@exercise.check(points=2)
def any_axis(lab, draw):
    """Is right along the given axis, in any memory layout."""
    scores = draw.normal(3, 5, 7)
    spread = draw.strided(draw.normal(2, 5, 3))
    return {
        "dim=0": lab.softmax(scores, dim=0),
        "dim=1": lab.softmax(scores, 1),
        "dim=2": lab.softmax(scores, dim=2),
        "dim=-1": lab.softmax(scores, dim=-1),
        "dim=-2": lab.softmax(scores, dim=-2),
        "dim=-3": lab.softmax(scores, dim=-3),
        "one dimension": lab.softmax(draw.normal(11), dim=0),
        "not contiguous": lab.softmax(spread, dim=1),
    }


@exercise.check(points=1)
def any_shape(lab, draw):
    """Is right for axes of length 1, for equal axes, and for more and fewer axes."""

    def every_dim(shape):
        return [lab.softmax(draw.normal(*shape), dim) for dim in range(len(shape))]

    return draw.each_size(every_dim, shape=(3, 5, 7))


@exercise.check(points=1.5)
def sums_to_one(lab, draw):
    """Sums to one along the axis, to the last digits, even if one score is far above the rest."""
    scores = draw.normal(3, 5, 7)
    towering = draw.normal(4, 6) - 50.0 * torch.arange(6)
    shares = lab.softmax(scores, dim=1)
    asked = ((scores, 1), (scores, -1), (towering, -1))
    sums = [lab.softmax(x, dim=dim).sum(dim) for x, dim in asked]
    return {
        "number of shares below 0 or above 1": outside(shares, -1e-9, 1 + 1e-9),
        "sums": shares.sum(1),
        "number of sums further than 1e-13 from 1": [
            outside(total - 1, -1e-13, 1e-13) for total in sums
        ],
    }


@exercise.check(points=1.5)
def large_scores(lab, draw):
    """Stays exact for scores in the thousands, and if rows or single scores are far apart."""
    scores = draw.normal(4, 3, 6)
    offsets = torch.tensor([0.0, 1e3, -1e3, 5e4], dtype=torch.float64)
    return {
        "all 1000 higher": lab.softmax(scores + 1e3, dim=-1),
        "rows far apart": lab.softmax(scores + offsets[:, None, None], dim=-1),
        "one score far above": lab.softmax(scores + 5e3 * (torch.arange(6) == 2), dim=-1),
        "float16, where exp(12) is infinite: number of sums further than 0.01 from 1": {
            f"all about {higher} higher": outside(
                lab.softmax((scores + higher).half(), dim=-1).double().sum(-1), 0.99, 1.01
            )
            for higher in (14, 60)
        },
    }


@exercise.check(points=1, hidden=True)
def scores_far_apart(lab, draw):
    """Stays exact when slices along any axis are far apart, and when the scores in a slice are."""
    scores = draw.normal(4, 3, 6)
    offsets = torch.tensor([0.0, 1e3, -1e3, 5e4], dtype=torch.float64)
    low = scores - 5e4
    low[:, :, 2] = -math.inf  # its share is 0 however low the others are
    high = scores + 5e4
    high[::2, :, 4] = -math.inf
    shares = lab.softmax(low, dim=-1)
    return {
        "slices far apart, middle axis": lab.softmax(scores + offsets[:, None, None], dim=1),
        "entries far apart": lab.softmax(scores + offsets[:, None, None], dim=0),
        "all very low": lab.softmax(scores - 5e4, dim=-1),
        "-inf next to very low scores": shares,
        "-inf next to very high scores": lab.softmax(high, dim=-1),
        "number of shares other than 0 next to very low scores": (
            (shares[low == -math.inf] != 0).sum()
        ),
    }


@exercise.check(points=1.5, hidden=True)
def minus_infinity(lab, draw):
    """Gives probability 0, exactly, to a score of -inf."""
    scores = 3 * draw.normal(4, 7)
    scores[0, 2] = scores[1, 0] = scores[2, 3] = scores[2, 6] = -math.inf
    scores[3, :3] = -math.inf
    shares = lab.softmax(scores, dim=-1)
    wrong = shares[scores == -math.inf] != 0
    return {"shares": shares, "number of shares other than 0 for -inf": wrong.sum()}


@exercise.check(points=2)
def gradients(lab, draw):
    """Passes the right gradients back to the scores."""
    scores = draw.normal(2, 5, 3)
    return {
        "last axis": draw.gradients(lambda x: lab.softmax(x, dim=-1), scores),
        "middle axis": draw.gradients(lambda x: lab.softmax(x, dim=1), scores),
    }


@exercise.check(points=0.5, hidden=True)
def input_kept(lab, draw):
    """Leaves its input unchanged."""
    # A version may replace a score of -inf where it stands.
    x = draw.normal(3, 5).masked_fill(torch.arange(5) == 2, -math.inf)
    seen = [
        list(lab.softmax(draw.normal(2, 5), dim=0).shape),
        list(lab.softmax(draw.normal(3, 2, 5).requires_grad_(), dim=1).shape),
        list(lab.softmax(draw.strided(x), dim=1).shape),
    ]
    # A function that returns nothing of use leaves its input unchanged, too.
    return {"inputs as they were": draw.untouched(), "shapes of the results": seen}


@exercise.check(points=0.5, hidden=True)
def integers(lab, draw):
    """Accepts whole numbers, and gives what the same numbers as floats give."""
    out = lab.softmax(draw.integers(-4, 5, 3, 7), dim=-1)
    alone = lab.softmax(draw.integers(-4, 5, 3, 1), dim=-1)
    return {
        "shares": out,
        "kind of numbers": "float" if out.is_floating_point() else "int",
        "kind of numbers, one score alone": "float" if alone.is_floating_point() else "int",
    }


# exp(x - logsumexp(x)) is right, too, but keeps fewer digits of large numbers in float32.
@exercise.check(points=0.5, judge=Close(atol=1e-6, rtol=1e-4))
def small_integers(lab, draw):
    """Accepts integers of 8 bits, too, whose differences do not fit into 8 bits."""
    small, signed = draw.integers(0, 9, 3, 7), draw.integers(-9, 10, 3, 7)
    small[:, 0], signed[:, 0], signed[:, 1] = 255, 127, -128
    return {
        "0 to 255": lab.softmax(small.to(torch.uint8), dim=0),
        "-128 to 127": lab.softmax(signed.to(torch.int8), dim=-1),
    }


exercise.promises(
    {
        "Turn scores into probabilities along one axis: exp(x_i)": "any_axis sums_to_one",
        "scores with any number of axes, at least one": "any_shape",
        "A score of -inf gets probability 0.": "minus_infinity",
        "dim: the axis along which the probabilities sum to 1; may be negative": (
            "default_axis any_axis"
        ),
        "same shape as `x`": "shape_and_dtype any_shape",
        "sum to 1 except for rounding (nothing is added to the denominator)": "sums_to_one",
        "Scores in the tens of thousands are safe.": "large_scores scores_far_apart",
        "The dtype is that of `x`": "shape_and_dtype",
        "an integer `x` (of 8 bits, too) gives the same result": "integers small_integers",
        "Gradients flow back to `x`": "gradients",
        "`x` itself stays unchanged": "input_kept",
    },
    explained=[
        "(No slice along `dim` is -inf throughout, and no score is +inf or NaN. In float16, a "
        "slice has fewer than 65,504 entries, because that is the largest sum that it can hold.)"
    ],
)
