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


@exercise.check(points=1)
def shapes_and_dtypes(lab, draw):
    """logsumexp drops the axis, log_softmax keeps the shape; both keep the dtype."""
    x = draw.normal(2, 3, 5)
    seen = {
        "logsumexp, shape": list(lab.logsumexp(x, dim=1).shape),
        "log_softmax, shape": list(lab.log_softmax(x, dim=1).shape),
    }
    for dtype in (torch.float32, torch.bfloat16):
        name = str(dtype).removeprefix("torch.")
        seen[f"logsumexp, dtype of {name}"] = dtype_of(lab.logsumexp(x.to(dtype), dim=-1))
        seen[f"log_softmax, dtype of {name}"] = dtype_of(lab.log_softmax(x.to(dtype), dim=-1))
    return seen


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


@exercise.check(points=1, hidden=True)
def logsumexp_far_from_zero(lab, draw):
    """logsumexp stays finite for scores in the tens of thousands, on both sides of zero."""
    x = draw.normal(4, 3, 6)
    offsets = torch.tensor([0.0, 1e3, -1e3, 1e4], dtype=torch.float64)[:, None, None]
    return {
        "last axis": lab.logsumexp(x + offsets, dim=-1),
        "middle axis": lab.logsumexp(x + offsets, dim=1),
        "first axis": lab.logsumexp(x + offsets, dim=0),
        "all very low": lab.logsumexp(x - 2e4, dim=-1),
    }


@exercise.check(points=1, hidden=True)
def log_softmax_of_the_unlikely(lab, draw):
    """log_softmax stays finite if the probability itself is too small for a float."""
    x = draw.normal(4, 3, 6)
    offsets = torch.tensor([0.0, 1e3, -1e3, 1e4], dtype=torch.float64)[:, None, None]
    below = 200.0 * (x[0] - x[0].amax(-1, keepdim=True))
    return {
        "entries far apart": lab.log_softmax(x + offsets, dim=0),
        "slices far apart": lab.log_softmax(x + offsets, dim=-1),
        "float32": lab.log_softmax(below.float(), dim=-1),
    }


@exercise.check(points=0.5, hidden=True)
def digits_kept(lab, draw):
    """A large number added to all scores costs log_softmax no digits, in float32 either."""
    # Multiples of 1/64 are exact in float32, around 20,000, too.
    x = draw.integers(-600, 600, 4, 6).double() / 64
    return {
        "scores around 20,000": lab.log_softmax((x + 2e4).float(), dim=-1),
        "scores around -20,000": lab.log_softmax((x - 2e4).float(), dim=0),
    }


@exercise.check(points=1, hidden=True)
def minus_infinity(lab, draw):
    """A score of -inf adds nothing; a slice that is all -inf has the logsumexp -inf."""
    x = draw.normal(4, 6)
    x[0, 2] = x[1, 0] = x[1, 5] = -math.inf
    empty = x.clone()
    empty[2] = -math.inf
    return {
        "logsumexp": lab.logsumexp(x, dim=-1),
        "log_softmax": lab.log_softmax(x, dim=-1),
        "logsumexp, one row all -inf": lab.logsumexp(empty, dim=-1),
        "logsumexp, all -inf, first axis": lab.logsumexp(empty.T, dim=0),
    }


@exercise.check(points=1, hidden=True)
def gradients_and_input(lab, draw):
    """Gradients flow back through both, and the input is unchanged."""
    x = draw.normal(2, 5, 3)
    for function in (lab.logsumexp, lab.log_softmax):
        function(x, dim=0)
    return {
        "logsumexp": draw.gradients(lambda x: lab.logsumexp(x, dim=1), x),
        "log_softmax": draw.gradients(lambda x: lab.log_softmax(x, dim=1), x),
        "input unchanged": draw.untouched(),
    }


exercise.promises(
    {
        "Natural logarithm of Σ_j exp(x_j) along one axis, without overflow or underflow.": (
            "logsumexp_values logsumexp_far_from_zero"
        ),
        "x: scores of any shape without an empty axis, floating point; -inf is allowed, +inf does "
        "not occur. dim: the axis to sum over": "other_shapes minus_infinity",
        "the axis to sum over; may be negative": "logsumexp_values",
        "The shape of `x` without the axis `dim`, in the dtype of `x`.": (
            "shapes_and_dtypes other_shapes"
        ),
        "If all scores of a slice are -inf, the result is -inf": "minus_infinity",
        "Scores in the tens of thousands are safe.": "logsumexp_far_from_zero",
        "Scores in the tens of thousands are safe. Gradients flow back to `x`, and `x` itself "
        "stays unchanged.": "gradients_and_input",
        "exact even if the probability itself is 0": "log_softmax_of_the_unlikely",
        "not occur. (No slice along `dim` is -inf throughout.)": "other_shapes minus_infinity",
        "the axis whose probabilities sum to 1; may be negative": "log_softmax_values",
        "Log-probabilities, shape and dtype of `x`.": "shapes_and_dtypes other_shapes",
        "A score 5000 below the others": "log_softmax_of_the_unlikely",
        "A large number added to every score costs no digits": "digits_kept",
        "their differences around 0. Gradients flow back to `x`, and `x` itself stays unchanged.": (
            "gradients_and_input"
        ),
    },
)


@exercise.also_right(of="logsumexp")
def maximum_apart(x, dim=-1):
    top = x.amax(dim, keepdim=True).clamp(min=torch.finfo(x.dtype).min)
    return (x - top).exp().sum(dim).log() + top.squeeze(dim)


wrong_logsumexp = exercise.edits(maximum_apart, of="logsumexp")

wrong_logsumexp(
    "logsumexp_base_two",
    ".log()",
    ".log2()",
    "The last line mixes a natural logarithm with one of base 2 or 10. Which logarithm undoes exp?",
)
wrong_logsumexp.several(
    "logsumexp_without_max",
    {"(x - top)": "x", " + top.squeeze(dim)": ""},
    "exp overflows for scores above 709, and underflows to log 0 for very low ones. What can you "
    "move out of the sum before the exponential, and add again after the logarithm?",
)
wrong_logsumexp.several(
    "logsumexp_global_max",
    {"amax(dim, keepdim=True)": "max()", "top.squeeze(dim)": "top"},
    "You subtract one maximum for the whole tensor: slices far below it underflow to log 0 = "
    "-inf. Which maximum belongs to each slice?",
)
wrong_logsumexp(
    "max_added_twice",
    "+ top",
    "+ 2 * top",
    "Your logsumexp is too large by the maximum of each slice. How often do you subtract the "
    "maximum, and how often do you add it?",
)
wrong_logsumexp(
    "max_not_added_back",
    " + top.squeeze(dim)",
    "",
    "Your logsumexp lacks the maximum that you subtracted before the exponential. How is a sum of "
    "exp(x - m) related to the sum of exp(x)?",
)
wrong_logsumexp(
    "every_axis_of_one_squeezed",
    "top.squeeze(dim)",
    "top.squeeze()",
    "`squeeze()` without an axis drops every axis of length 1, the wanted ones, too. Which axis "
    "should go?",
)
wrong_logsumexp.several(
    "axis_kept",
    {"sum(dim)": "sum(dim, keepdim=True)", "top.squeeze(dim)": "top"},
    "The axis that logsumexp sums over should disappear from the shape, but yours still has it "
    "with length 1. Which `keepdim` is not needed?",
)
wrong_logsumexp.several(
    "logsumexp_dim_ignored",
    {"amax(dim": "amax(-1", "sum(dim": "sum(-1", "squeeze(dim": "squeeze(-1"},
    "Your logsumexp takes the last axis, whatever `dim` says. Does each line that reduces an axis "
    "use `dim`?",
)
wrong_logsumexp.several(
    "logsumexp_of_everything",
    {"amax(dim, keepdim=True)": "max()", "sum(dim)": "sum()", "top.squeeze(dim)": "top"},
    "Your logsumexp is one number for the whole tensor. Along which axis was the sum asked for?",
)
wrong_logsumexp(
    "nan_for_empty_rows",
    ".clamp(min=torch.finfo(x.dtype).min)",
    "",
    "A row that is all -inf gives NaN: its maximum is -inf, and -inf - (-inf) is not a number. "
    "What else could you subtract from such a row?",
)
wrong_logsumexp(
    "logsumexp_detached",
    "    top = x",
    "    x = x.detach()\n    top = x",
    "No gradient flows back through logsumexp: a `.detach()`, `.data` or a conversion to numpy "
    "cuts torch's graph. Which line is it?",
)


@exercise.also_right(of="log_softmax")
def shifted_first(x, dim=-1):
    shifted = x - x.amax(dim, keepdim=True)
    return shifted - shifted.exp().sum(dim, keepdim=True).log()


wrong_log_softmax = exercise.edits(shifted_first, of="log_softmax")

wrong_log_softmax(
    "log_of_softmax",
    "shifted - shifted.exp().sum(dim, keepdim=True).log()",
    "(shifted.exp() / shifted.exp().sum(dim, keepdim=True)).log()",
    "If a probability is too small for a float it becomes 0, and its logarithm -inf. If you take "
    "the logarithm of the formula on paper first, what is left of exp?",
)
wrong_log_softmax(
    "log_of_clamped_softmax",
    "shifted - shifted.exp().sum(dim, keepdim=True).log()",
    "(shifted.exp() / shifted.exp().sum(dim, keepdim=True)).clamp(min=1e-9).log()",
    "The logarithm of a softmax that is clamped from below (or has a small number added) stops at "
    "a lowest value, about -20 or -100. Does the true logarithm have a lowest value?",
)
wrong_log_softmax(
    "log_softmax_base_two",
    "shifted - shifted.exp().sum(dim, keepdim=True).log()",
    "(shifted - shifted.exp().sum(dim, keepdim=True).log()) / math.log(2)",
    "Your logarithm has base 2 or 10. The exponential of softmax has base e: which logarithm "
    "undoes it?",
)
wrong_log_softmax(
    "log_softmax_without_max",
    "x - x.amax(dim, keepdim=True)",
    "x",
    "In log_softmax, exp of a large score overflows before the logarithm can help. Which function "
    "of yours already sums exponentials safely?",
)
wrong_log_softmax(
    "max_subtracted_twice",
    ".log()",
    ".log() - x.amax(dim, keepdim=True)",
    "In log_softmax you subtract the maximum twice: once from the scores, and again inside a "
    "logsumexp that already includes it. Which of the two is not needed?",
)
wrong_log_softmax.several(
    "log_softmax_dim_ignored",
    {"amax(dim": "amax(-1", "sum(dim": "sum(-1"},
    "Your log_softmax takes the last axis, whatever `dim` says. Does each line that reduces an "
    "axis use `dim`?",
)
wrong_log_softmax(
    "large_numbers_subtracted",
    "shifted - shifted.exp().sum(dim, keepdim=True).log()",
    "x - (shifted.exp().sum(dim, keepdim=True).log() + x.amax(dim, keepdim=True))",
    "Your log_softmax is x minus its logsumexp. If both are around 20,000, float32 rounds them to "
    "two digits after the point, and the difference is as rough. What can you subtract from the "
    "scores first, so that all numbers in the formula are small?",
)
wrong_log_softmax(
    "log_softmax_squeezed",
    "shifted - shifted.exp().sum(dim, keepdim=True).log()",
    "(shifted - shifted.exp().sum(dim, keepdim=True).log()).squeeze()",
    "Your log_softmax loses the axes of length 1. What is its shape for x of shape (1, 7), and "
    "what should it be?",
)
wrong_log_softmax(
    "normaliser_detached",
    ".log()",
    ".log().detach()",
    "log_softmax passes back only part of the gradient: the sum of exponentials depends on the "
    "scores, too. What cuts it from torch's graph?",
)
wrong_log_softmax(
    "in_place",
    "x - x.amax(dim, keepdim=True)",
    "x.sub_(x.amax(dim, keepdim=True))",
    "Your code writes into the tensor that it was given. What does the same and makes a new "
    "tensor?",
)
wrong_log_softmax(
    "returns_probabilities",
    "shifted - shifted.exp().sum(dim, keepdim=True).log()",
    "shifted.exp() / shifted.exp().sum(dim, keepdim=True)",
    "log_softmax returns probabilities, not their logarithms: all entries are between 0 and 1. "
    "Between which limits is the logarithm of a probability?",
)
wrong_log_softmax(
    "sign_turned",
    "shifted - shifted.exp().sum(dim, keepdim=True).log()",
    "shifted.exp().sum(dim, keepdim=True).log() - shifted",
    "Your log_softmax has the wrong sign: can the logarithm of a probability be above 0?",
)


@exercise.mistake(
    "The result of logsumexp has one axis less than the scores, so the subtraction broadcasts "
    "along the wrong axis. Where must an axis of length 1 be added again?",
    of="log_softmax",
)
def axis_lost(x, dim=-1):
    return x - logsumexp(x, dim)


@exercise.also_right(of="logsumexp")
def with_a_mask_for_empty_rows(x, dim=-1):
    top = x.max(dim=dim, keepdim=True).values
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    return (torch.log(torch.sum(torch.exp(x - top), dim=dim, keepdim=True)) + top).squeeze(dim)


@exercise.also_right(of="logsumexp")
def one_score_at_a_time(x, dim=-1):
    total, *rest = x.unbind(dim)
    for score in rest:
        total = torch.logaddexp(total, score)
    return total


@exercise.also_right(of="logsumexp")
def maximum_detached(x, dim=-1):
    top = x.detach().amax(dim=dim, keepdim=True).nan_to_num(neginf=0.0)
    return (x - top).exp().sum(dim=dim).log().add(top.squeeze(dim))


@exercise.also_right(of="log_softmax")
def slice_by_slice(x, dim=-1):
    def one(row):
        below = row - row.max()
        return below - below.exp().sum().log()

    last = x.movedim(dim, -1)
    rows = [one(row) for row in last.reshape(-1, last.shape[-1])]
    return torch.stack(rows).reshape(last.shape).movedim(-1, dim)
