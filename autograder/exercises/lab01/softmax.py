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


@exercise.check(points=2)
def sums_to_one(lab, draw):
    """Sums to one along the axis, to the last digits, even if one score is far above the rest."""
    scores = draw.normal(3, 5, 7)
    towering = draw.normal(4, 6) - 50.0 * torch.arange(6)
    shares = lab.softmax(scores, dim=1)
    return {
        "shares between 0 and 1": bool(((shares > -1e-9) & (shares < 1 + 1e-9)).all()),
        "shares of one": lab.softmax(scores, dim=1).sum(1),
        "distance from one below 1e-13": [
            bool((lab.softmax(x, dim=dim).sum(dim) - 1).abs().max() < 1e-13)
            for x, dim in ((scores, 1), (scores, -1), (towering, -1))
        ],
    }


@exercise.check(points=1.5)
def large_scores(lab, draw):
    """Stays exact for scores in the thousands, and when rows are thousands apart."""
    scores = draw.normal(4, 3, 6)
    offsets = torch.tensor([0.0, 1e3, -1e3, 5e4], dtype=torch.float64)
    return {
        "all 1000 higher": lab.softmax(scores + 1e3, dim=-1),
        "rows far apart": lab.softmax(scores + offsets[:, None, None], dim=-1),
    }


@exercise.check(points=1, hidden=True)
def scores_far_apart(lab, draw):
    """Stays exact when slices along any axis are far apart, and when the scores in a slice are."""
    scores = draw.normal(4, 3, 6)
    offsets = torch.tensor([0.0, 1e3, -1e3, 5e4], dtype=torch.float64)
    return {
        "slices far apart, middle axis": lab.softmax(scores + offsets[:, None, None], dim=1),
        "entries far apart": lab.softmax(scores + offsets[:, None, None], dim=0),
        "all very low": lab.softmax(scores - 5e4, dim=-1),
    }


@exercise.check(points=1, hidden=True)
def minus_infinity(lab, draw):
    """Gives probability 0, exactly, to a score of -inf."""
    scores = 3 * draw.normal(3, 7)
    scores[0, 2] = scores[1, 0] = scores[2, 3] = scores[2, 6] = -math.inf
    shares = lab.softmax(scores, dim=-1)
    return {"shares": shares, "exactly 0": bool((shares[scores == -math.inf] == 0).all())}


@exercise.check(points=2, hidden=True)
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
    seen = [
        list(lab.softmax(draw.normal(2, 5), dim=0).shape),
        list(lab.softmax(draw.normal(3, 2, 5).requires_grad_(), dim=1).shape),
    ]
    # A function that returns nothing of use leaves its input unchanged, too.
    return {"inputs as they were": draw.untouched(), "shapes of the results": seen}


@exercise.check(points=0.5, hidden=True)
def integers(lab, draw):
    """Accepts whole numbers, and gives what the same numbers as floats give."""
    out = lab.softmax(draw.integers(-4, 5, 3, 7), dim=-1)
    return {"shares": out, "a floating dtype": out.is_floating_point()}


# exp(x - logsumexp(x)) is right, too, but keeps fewer digits of large numbers in float32.
@exercise.check(points=0.5, hidden=True, judge=Close(atol=1e-6, rtol=1e-4))
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
        "scores of any shape": "any_shape",
        "A score of -inf gets probability 0.": "minus_infinity",
        "dim: the axis along which the probabilities sum to 1; may be negative": (
            "default_axis any_axis"
        ),
        "same shape as `x`": "shape_and_dtype any_shape",
        "sum to 1 except for rounding (nothing is added to the denominator)": "sums_to_one",
        "Scores in the tens of thousands are safe.": "large_scores scores_far_apart",
        "The dtype is that of `x`": "shape_and_dtype",
        "an integer `x` gives the same result": "integers small_integers",
        "Gradients flow back to `x`": "gradients",
        "`x` itself stays unchanged": "input_kept",
    },
    explained=[
        "(No slice along `dim` is -inf throughout, and no score is +inf or NaN. In float16, a "
        "slice has fewer than 65,504 entries, because that is the largest sum that it can hold.)"
    ],
)


@exercise.also_right
def in_three_lines(x, dim=-1):
    scores = x if x.is_floating_point() else x.double()
    exp = (scores - scores.amax(dim, keepdim=True)).exp()
    return exp / exp.sum(dim, keepdim=True)


@exercise.also_right
def minus_logsumexp(x, dim=-1):
    scores = x if x.is_floating_point() else x.to(torch.get_default_dtype())
    return (scores - scores.logsumexp(dim, keepdim=True)).exp()


wrong = exercise.edits(in_three_lines)

wrong(
    "first_axis_by_default",
    "dim=-1",
    "dim=0",
    "Without the argument `dim`, you do not take the last axis. Which default does the task's "
    "first line give?",
)
wrong(
    "second_axis_by_default",
    "dim=-1",
    "dim=1",
    "Your default is axis 1. With three axes, that is not the last one. Which default does the "
    "task's first line give?",
)
wrong(
    "always_float64",
    "x if x.is_floating_point() else x.double()",
    "x.double()",
    "Your result is float64, even if the scores are not. Which dtypes need a conversion at all?",
)
wrong.several(
    "always_first_axis",
    {"amax(dim": "amax(0", "sum(dim": "sum(0"},
    "You sum along the first axis, whatever `dim` says. For x of shape (3, 5, 7) and dim=1, which "
    "axis of your sum has length 1?",
)
wrong.several(
    "dim_ignored",
    {"amax(dim": "amax(-1", "sum(dim": "sum(-1"},
    "Your result is the same for every `dim`. Does each line that reduces an axis use the argument "
    "`dim`?",
)
wrong.several(
    "over_everything",
    {"amax(dim, keepdim=True)": "max()", "sum(dim, keepdim=True)": "sum()"},
    "You take one sum over the whole tensor, so only all slices together sum to one. Which entries "
    "should share one unit of probability?",
)
wrong(
    "no_max_subtraction",
    "(scores - scores.amax(dim, keepdim=True))",
    "scores",
    "exp of a large score overflows to infinity, and a row of very low scores underflows to 0/0. "
    "What can you subtract from a whole row without changing its softmax?",
)
wrong(
    "global_max",
    "amax(dim, keepdim=True)",
    "max()",
    "You subtract one number, the largest score of the whole tensor. A row far below it then has "
    "only zeros left to divide. Which maximum makes each slice safe by itself?",
)
wrong(
    "max_over_wrong_dim",
    "amax(dim",
    "amax(-1 if dim % x.ndim != x.ndim - 1 else 0",
    "You take the maximum along another axis than the sum. Within one slice every score must lose "
    "the same number: does it for dim=0?",
)
wrong(
    "mean_subtracted",
    "amax",
    "mean",
    "You subtract the mean of a slice: a score 1,000 above its mean still overflows. Which number "
    "guarantees that no exponent is above 0?",
)
wrong(
    "keepdim_missing",
    "sum(dim, keepdim=True)",
    "sum(dim)",
    "The axis you reduced is gone, so the division broadcasts along another axis (a square input "
    "hides that). What are the shapes on the two sides of your division?",
)
wrong(
    "squeezed",
    "exp / exp.sum(dim, keepdim=True)",
    "(exp / exp.sum(dim, keepdim=True)).squeeze()",
    "Your result loses the axes of length 1. What is its shape for x of shape (1, 7), and what "
    "should it be?",
)
wrong(
    "epsilon_in_denominator",
    "exp.sum(dim, keepdim=True)",
    "(exp.sum(dim, keepdim=True) + 1e-8)",
    "A small number in the denominator makes every sum a little less than one. Can the "
    "denominator be 0 at all, once the largest exponent is exp(0)?",
)
wrong(
    "detached",
    "    exp =",
    "    scores = scores.detach()\n    exp =",
    "The numbers are right, but no gradient reaches the scores: a `.detach()`, `.data`, `no_grad` "
    "or a conversion to numpy or Python numbers cuts torch's graph. Which line is it?",
)
wrong(
    "detached_denominator",
    "exp.sum(dim, keepdim=True)",
    "exp.sum(dim, keepdim=True).detach()",
    "Some of the gradient is missing: the denominator depends on the scores, too. What cuts that "
    "side of your division from torch's graph?",
)
wrong(
    "in_place",
    "scores - scores.amax(dim, keepdim=True)",
    "scores.sub_(scores.amax(dim, keepdim=True))",
    "Your code writes into the tensor that it was given (`-=`, `sub_`, `exp_`), so the caller's "
    "scores are lost. What does the same and makes a new tensor?",
)
wrong(
    "integers_not_cast",
    "exp / exp.sum(dim, keepdim=True)",
    "torch.empty_like(x).copy_(exp / exp.sum(dim, keepdim=True))",
    "For whole numbers you return whole numbers: the probabilities were cut off to 0 and 1. Which "
    "of your tensors takes its dtype from the input?",
)
wrong(
    "integers_wrap_around",
    "x if x.is_floating_point() else x.double()",
    "x",
    "Integers of 8 bits wrap around: as uint8, 3 - 5 is 254. Where in your code do whole numbers "
    "become floats, before or after a difference is taken?",
)
wrong(
    "always_float32",
    "x if x.is_floating_point() else x.double()",
    "x.float()",
    "You always return float32, even for float64 or float16. Where does your code fix the dtype?",
)
wrong(
    "sign_turned",
    "scores - scores.amax(dim, keepdim=True)",
    "scores.amin(dim, keepdim=True) - scores",
    "The largest score gets the smallest probability. Which sign does a score have inside your "
    "exponential?",
)
wrong(
    "powers_of_two",
    ".exp()",
    ".exp2()",
    "Your powers use a base other than e. What are your weights for two scores that are 1 apart, "
    "compared with the formula's?",
)
wrong(
    "no_exponential",
    "(scores - scores.amax(dim, keepdim=True)).exp()",
    "scores",
    "You divide the scores by their sum; the exponential of the formula is missing. What does a "
    "negative score become?",
)
wrong(
    "not_normalised",
    "exp / exp.sum(dim, keepdim=True)",
    "exp",
    "You return the exponentials, which do not share one unit of probability yet. What does a "
    "slice of your result sum to?",
)


@exercise.mistake(
    "numpy does not know torch's graph: a tensor that requires gradients cannot be converted to "
    "numpy, and the result has no gradient. Which torch calls do the same?"
)
def through_numpy(x, dim=-1):
    import numpy as np

    scores = (x if x.is_floating_point() else x.float()).numpy()
    exp = np.exp(scores - scores.max(axis=dim, keepdims=True))
    return torch.from_numpy(exp / exp.sum(axis=dim, keepdims=True)).to(x.dtype)


@exercise.mistake(
    "You return logarithms of probabilities: none is above 0, and they do not sum to one. Which "
    "last step is missing?"
)
def returns_log_probabilities(x, dim=-1):
    shifted = x - x.amax(dim, keepdim=True)
    return shifted - shifted.exp().sum(dim, keepdim=True).log()


@exercise.also_right
def by_logsumexp(x, dim=-1):
    wide = x if x.dtype in (torch.float32, torch.float64) else x.double()
    shifted = wide - wide.amax(dim, keepdim=True)
    p = (shifted - shifted.logsumexp(dim, keepdim=True)).exp()
    return p.to(x.dtype) if x.is_floating_point() else p


@exercise.also_right
def maximum_detached(x, dim=-1):
    x = torch.as_tensor(x, dtype=None if x.is_floating_point() else torch.float32)
    top, _ = torch.max(x.detach(), dim=dim, keepdim=True)
    exp = torch.exp(x - top)
    return torch.div(exp, torch.sum(exp, dim=dim, keepdim=True))


@exercise.also_right
def axis_moved_to_the_end(x, dim=-1):
    x = x.float() if not torch.is_floating_point(x) else x
    last = x.transpose(dim, -1)
    exp = (last - last.max(-1).values.unsqueeze(-1)).exp()
    return torch.einsum("...i,...->...i", exp, 1 / exp.sum(-1)).transpose(dim, -1)


@exercise.also_right
def slice_by_slice(x, dim=-1):
    def one(row):
        exp = torch.exp(row - max(row))
        return exp / sum(exp)

    last = (x if x.is_floating_point() else x * 1.0).movedim(dim, -1)
    rows = [one(row) for row in last.reshape(-1, last.shape[-1])]
    return torch.stack(rows).reshape(last.shape).movedim(-1, dim)
