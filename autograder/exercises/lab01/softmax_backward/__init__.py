"""softmax_backward: from the gradient at the probabilities to the gradient at the scores."""

from __future__ import annotations

import torch

from attnlab.checking.observation import dtype_of
from attnlab.checking.peak_memory import LargestTensor
from attnlab.softmax import softmax, softmax_backward
from gradekit.exercise import Exercise

exercise = Exercise(
    softmax_backward,
    uses=[softmax],
    forbids=[
        "torch.Tensor.backward",
        "torch.autograd.grad",
        "torch._softmax_backward_data",
    ],
)


def distribution(draw, *shape):
    """Random probabilities along the last axis, laid out with gaps in memory."""
    weights = draw.normal(*shape).exp()
    return draw.strided(weights / weights.sum(-1, keepdim=True))


@exercise.check(points=1)
def shape_and_dtype(lab, draw):
    """Returns the shape and the dtype of the probabilities."""
    p, grad_p = distribution(draw, 2, 3, 5), draw.normal(2, 3, 5)
    out = lab.softmax_backward(p.float(), grad_p.float())
    low = lab.softmax_backward(p.half(), grad_p.half())
    return {
        "shape": list(lab.softmax_backward(p, grad_p).shape),
        "dtype of float32": dtype_of(out),
        "dtype of float16": dtype_of(low),
    }


@exercise.check(points=2)
def values(lab, draw):
    """Agrees with autograd on one, two and three dimensions."""
    return {
        f"shape {shape}": lab.softmax_backward(distribution(draw, *shape), draw.normal(*shape))
        for shape in ((7,), (3, 5), (2, 3, 5))
    }


@exercise.check(points=1, hidden=True)
def other_shapes(lab, draw):
    """Is right for axes of length 1, for equal axes, and for more and fewer axes."""

    def ask(batch, V):
        return lab.softmax_backward(distribution(draw, *batch, V), draw.normal(*batch, V))

    return draw.each_size(ask, batch=(2, 3), V=5)


@exercise.check(points=1.5)
def memory(lab, draw):
    """Is right for long rows, and creates no tensor of V × V numbers on the way."""
    # No longer: two loops over V may be right, and take a second here.
    p, grad_p = distribution(draw, 2, 120), draw.normal(2, 120)
    with LargestTensor() as largest:
        out = lab.softmax_backward(p, grad_p)
    return {
        "gradient": out,
        "your largest tensor, as a multiple of the input (12 stands for 12 or less)": max(
            12, largest.bytes // (p.nelement() * 8)
        ),
    }


@exercise.check(points=1.5, hidden=True)
def certain_and_impossible(lab, draw):
    """Is right if some probabilities are 0 or 1, or very small."""
    p = torch.tensor([[0.0, 1.0, 0.0, 0.0], [0.25, 0.0, 0.75, 0.0], [0.5, 0.125, 0.125, 0.25]])
    unlikely = torch.tensor([[1e-9, 0.5, 2e-12, 0.5], [0.25, 0.75, 3e-8, 1e-7]]).double()
    return {
        "0 and 1": lab.softmax_backward(p.double(), 1e3 * draw.normal(3, 4)),
        # As the gradient of log p.
        "unlikely entries with large gradients": lab.softmax_backward(
            unlikely, draw.uniform(2, 4, low=0.5, high=2.0) / unlikely
        ),
    }


@exercise.check(points=0.5, hidden=True)
def equal_gradients(lab, draw):
    """Returns 0 if all entries of a row have the same gradient."""
    p, level = distribution(draw, 3, 7), draw.normal(3, 1)
    return lab.softmax_backward(p, level.expand(3, 7))


@exercise.check(points=0.5)
def inputs_kept(lab, draw):
    """Leaves both inputs unchanged."""
    out = lab.softmax_backward(distribution(draw, 3, 7), draw.normal(3, 7))
    # A function that returns nothing of use leaves its inputs unchanged, too.
    return {"inputs as they were": draw.untouched(), "shape of the result": list(out.shape)}


exercise.promises(
    {
        "The backward step of softmax along the last axis": "values certain_and_impossible",
        "p: (..., V), what softmax(x) returned. grad_p: (..., V), the gradient of a loss": (
            "other_shapes"
        ),
        "(..., V), the gradient of the same loss with respect to `x`": "shape_and_dtype values",
        "The function never makes a tensor of V × V numbers": "memory",
        "`p` and `grad_p` stay unchanged.": "inputs_kept",
    },
)
