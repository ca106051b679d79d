"""softmax: scores become probabilities, along any axis, without overflow."""

from __future__ import annotations

import math

import torch

from attnlab.checking.observation import dtype_of
from attnlab.softmax import softmax
from gradekit.exercise import Exercise

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
)


@exercise.check(points=2)
def shape_and_dtype(lab, draw):
    """Gives back the shape and the dtype that it was given."""
    scores = draw.normal(2, 3, 5)
    out = lab.softmax(scores, dim=1)
    return {
        "shape": list(out.shape),
        "dtype of float64": dtype_of(out),
        "dtype of float32": dtype_of(lab.softmax(scores.float(), dim=1)),
        "dtype of float16": dtype_of(lab.softmax(scores.half(), dim=1)),
    }


@exercise.check(points=3)
def any_axis(lab, draw):
    """Is right along the axis you ask for, on one to three dimensions, in any memory layout."""
    scores = draw.normal(3, 5, 7)
    spread = draw.strided(draw.normal(2, 5, 3))
    return {
        "no dim given": lab.softmax(scores),
        "dim=0": lab.softmax(scores, dim=0),
        "dim=1": lab.softmax(scores, 1),
        "dim=2": lab.softmax(scores, dim=2),
        "dim=-1": lab.softmax(scores, dim=-1),
        "dim=-2": lab.softmax(scores, dim=-2),
        "dim=-3": lab.softmax(scores, dim=-3),
        "one dimension": lab.softmax(draw.normal(11), dim=0),
        "not contiguous": lab.softmax(spread, dim=1),
    }


@exercise.check(points=2)
def sums_to_one(lab, draw):
    """Sums to one along the axis, to the last digits, even where one score towers over the rest."""
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


@exercise.check(points=3, hidden=True)
def scores_far_apart(lab, draw):
    """Stays exact when rows lie thousands apart, and when the scores in one row do."""
    scores = draw.normal(4, 3, 6)
    offsets = torch.tensor([0.0, 1e3, -1e3, 1e4], dtype=torch.float64)
    return {
        "slices far apart, last axis": lab.softmax(scores + offsets[:, None, None], dim=-1),
        "slices far apart, middle axis": lab.softmax(scores + offsets[:, None, None], dim=1),
        "entries far apart": lab.softmax(scores + offsets[:, None, None], dim=0),
        "all very low": lab.softmax(scores - 1e4, dim=-1),
    }


@exercise.check(points=1, hidden=True)
def minus_infinity(lab, draw):
    """Gives probability 0 to a score of -inf."""
    scores = 3 * draw.normal(3, 7)
    scores[0, 2] = scores[1, 0] = scores[2, 3] = scores[2, 6] = -math.inf
    return lab.softmax(scores, dim=-1)


@exercise.check(points=2, hidden=True)
def gradients(lab, draw):
    """Lets gradients flow back to the scores, the right ones."""
    scores = draw.normal(2, 5, 3)
    return {
        "last axis": draw.gradients(lambda x: lab.softmax(x, dim=-1), scores),
        "middle axis": draw.gradients(lambda x: lab.softmax(x, dim=1), scores),
    }


@exercise.check(points=1, hidden=True)
def input_kept_and_integers(lab, draw):
    """Leaves its input as it was, and takes whole numbers, too."""
    scores, whole = draw.normal(2, 5), draw.integers(-4, 5, 3, 7)
    lab.softmax(scores, dim=0)
    out = lab.softmax(whole, dim=-1)
    return {
        "input as it was": draw.untouched(),
        "integers": out,
        "integers give floats": out.is_floating_point(),
    }


@exercise.mistake(
    "The sum was taken along the first axis, whatever `dim` says. For x of shape (3, 5, 7) and "
    "dim=1, which axis of your sum has length 1?"
)
def always_first_axis(x, dim=-1):
    exp = (x - x.amax(0, keepdim=True)).exp()
    return exp / exp.sum(0, keepdim=True)


@exercise.mistake(
    "Your result is the same for every `dim`. Look for the argument `dim` in your code: does each "
    "line that reduces an axis use it?"
)
def dim_ignored(x, dim=-1):
    exp = (x - x.amax(-1, keepdim=True)).exp()
    return exp / exp.sum(-1, keepdim=True)


@exercise.mistake(
    "One sum was taken over the whole tensor, so only all the slices together sum to one. Which "
    "entries should share one unit of probability, and where do you say so?"
)
def over_everything(x, dim=-1):
    exp = (x - x.max()).exp()
    return exp / exp.sum()


@exercise.mistake(
    "exp of a large score overflows to infinity, and a row of very low scores underflows to 0/0. "
    "What can you subtract from a whole row without changing its softmax?"
)
def no_max_subtraction(x, dim=-1):
    exp = x.exp()
    return exp / exp.sum(dim, keepdim=True)


@exercise.mistake(
    "You subtract one number, the largest score of the whole tensor. A row that lies far below it "
    "then has only zeros left to divide. Which maximum keeps each slice safe by itself?"
)
def global_max(x, dim=-1):
    exp = (x - x.max()).exp()
    return exp / exp.sum(dim, keepdim=True)


@exercise.mistake(
    "The maximum that you subtract runs along another axis than the sum. Within one slice every "
    "score must lose the same number: is that so for dim=0?"
)
def max_over_wrong_dim(x, dim=-1):
    other = -1 if dim % x.ndim != x.ndim - 1 else 0
    exp = (x - x.amax(other, keepdim=True)).exp()
    return exp / exp.sum(dim, keepdim=True)


@exercise.mistake(
    "You shift by the mean of a slice: a score 1,000 above its mean still overflows. Which number "
    "guarantees that no exponent is above 0?"
)
def mean_subtracted(x, dim=-1):
    exp = (x - x.mean(dim, keepdim=True)).exp()
    return exp / exp.sum(dim, keepdim=True)


@exercise.mistake(
    "The axis you reduced is gone from the shape, so dividing lines it up with another axis (a "
    "square input hides that). What are the shapes on the two sides of your division?"
)
def keepdim_missing(x, dim=-1):
    exp = (x - x.amax(dim, keepdim=True)).exp()
    return exp / exp.sum(dim)


@exercise.mistake(
    "A small number in the denominator makes every sum a little less than one. Can the "
    "denominator be 0 at all, once the largest exponent is exp(0)?"
)
def epsilon_in_denominator(x, dim=-1):
    exp = (x - x.amax(dim, keepdim=True)).exp()
    return exp / (exp.sum(dim, keepdim=True) + 1e-8)


@exercise.mistake(
    "The numbers are right, but no gradient gets back to the scores: a `.detach()`, `.data`, "
    "`no_grad` or a trip through numpy or Python numbers cuts torch's graph. Which line is it?"
)
def detached(x, dim=-1):
    exp = (x.detach() - x.detach().amax(dim, keepdim=True)).exp()
    return exp / exp.sum(dim, keepdim=True)


@exercise.mistake(
    "Gradients flow, but not all of them: the denominator depends on the scores, too. What is cut "
    "from torch's graph on that side of your division?"
)
def detached_denominator(x, dim=-1):
    exp = (x - x.amax(dim, keepdim=True)).exp()
    return exp / exp.sum(dim, keepdim=True).detach()


@exercise.mistake(
    "numpy does not know torch's graph: a tensor that asks for gradients cannot go through it, "
    "and what comes back has none. Which torch calls do the same?"
)
def through_numpy(x, dim=-1):
    import numpy as np

    exp = np.exp(x.numpy() - x.numpy().max(axis=dim, keepdims=True))
    return torch.from_numpy(exp / exp.sum(axis=dim, keepdims=True)).to(x.dtype)


@exercise.mistake(
    "Your code writes into the tensor that it was given (`-=`, `sub_`, `exp_`), and the caller's "
    "scores are gone. What does the same and makes a new tensor?"
)
def in_place(x, dim=-1):
    x -= x.amax(dim, keepdim=True)
    exp = x.exp()
    return exp / exp.sum(dim, keepdim=True)


@exercise.mistake(
    "These are logarithms of probabilities: none is above 0, and they do not sum to one. Which "
    "last step is missing?"
)
def returns_log_probabilities(x, dim=-1):
    shifted = x - x.amax(dim, keepdim=True)
    return shifted - shifted.exp().sum(dim, keepdim=True).log()


@exercise.mistake(
    "Given whole numbers, your result is whole numbers: the probabilities were cut off to 0 and "
    "1. Which of your tensors takes its dtype from the input?"
)
def integers_not_cast(x, dim=-1):
    exp = (x - x.amax(dim, keepdim=True)).exp()
    return torch.empty_like(x).copy_(exp / exp.sum(dim, keepdim=True))


@exercise.mistake(
    "Everything you return is float32, also when float64 or float16 came in. Where does your code "
    "fix the dtype?"
)
def always_float32(x, dim=-1):
    exp = (x.float() - x.float().amax(dim, keepdim=True)).exp()
    return exp / exp.sum(dim, keepdim=True)


@exercise.mistake(
    "The largest score gets the smallest probability: look at the sign inside your exponential."
)
def sign_turned(x, dim=-1):
    exp = (x.amin(dim, keepdim=True) - x).exp()
    return exp / exp.sum(dim, keepdim=True)


@exercise.mistake(
    "These are powers of another base than e. Compare your weights for two scores that are 1 "
    "apart with the formula."
)
def powers_of_two(x, dim=-1):
    exp = torch.exp2(x - x.amax(dim, keepdim=True))
    return exp / exp.sum(dim, keepdim=True)


@exercise.mistake(
    "You divide the scores by their sum; the exponential of the formula is missing. What does a "
    "negative score become?"
)
def no_exponential(x, dim=-1):
    return x / x.sum(dim, keepdim=True)


@exercise.mistake(
    "The exponentials are there, but they do not share one unit of probability yet. What does a "
    "slice of your result sum to?"
)
def not_normalised(x, dim=-1):
    return (x - x.amax(dim, keepdim=True)).exp()


@exercise.also_right
def by_logsumexp(x, dim=-1):
    wide = x.float() if x.dtype == torch.half else x if x.is_floating_point() else x.double()
    shifted = wide - wide.amax(dim, keepdim=True)
    p = (shifted - shifted.logsumexp(dim, keepdim=True)).exp()
    return p.to(x.dtype) if x.is_floating_point() else p


@exercise.also_right
def maximum_detached(x, dim=-1):
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

    last = x.movedim(dim, -1)
    rows = [one(row) for row in last.reshape(-1, last.shape[-1])]
    return torch.stack(rows).reshape(last.shape).movedim(-1, dim)
