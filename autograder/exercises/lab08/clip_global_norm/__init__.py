"""clip_global_norm: a limit for the length of all gradients together."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from attnlab.checking.judges import Close
from attnlab.optimizers import clip_global_norm
from gradekit.exercise import Exercise

ONE_DEVICE = "all gradients are on one device here"

exercise = Exercise(
    clip_global_norm,
    forbids=[
        "torch.nn.utils.clip_grad_norm_",
        "torch.nn.utils.clip_grads_with_norm_",
        "torch.nn.utils.get_total_norm",
    ],
    equivalent={
        "clip_global_norm: `torch.tensor(0.0)` → `0.0` in `return torch.tensor(0.0)`": (
            "a number is accepted, too, if there are no gradients: a sum of nothing is one"
        ),
        "clip_global_norm: `grad.norm().to(grads[0].device)` → `grad.norm()` in `norm = "
        "torch.stack([grad.norm().to(grads[0].device) for grad in grads]).norm()`": ONE_DEVICE,
        "clip_global_norm: `factor.to(grad.device)` → `factor` in "
        "`grad.mul_(factor.to(grad.device))`": ONE_DEVICE,
    },
)

CLIPPED = Close(atol=1e-9, rtol=1e-6)  # torch adds 1e-6 to the length
EXACT = Close(atol=0, rtol=0)


def with_gradients(*given):
    """Parameters with these gradients; None for one without a gradient."""
    made = []
    for grad in given:
        size = 3 if grad is None else grad.shape
        parameter = nn.Parameter(torch.full((size,) if size == 3 else size, 7.0).double())
        parameter.grad = grad
        made.append(parameter)
    return made


def of_length(draw, length, *shapes):
    """Random gradients of these shapes, which have this length together."""
    drawn = [draw.normal(*shape) for shape in shapes]
    now = torch.cat([grad.flatten() for grad in drawn]).norm()
    return [grad * (length / now) for grad in drawn]


def gradients(parameters):
    return ["no gradient yet" if p.grad is None else p.grad.clone() for p in parameters]


def clipped(lab, max_norm, *grads):
    """What a call returns, and the gradients after it."""
    parameters = with_gradients(*grads)
    norm = lab.clip_global_norm(parameters, max_norm)
    return {"length before": norm, "gradients": gradients(parameters)}


@exercise.check(points=1, judge=EXACT)
def within_the_limit(lab, draw):
    """Gradients that are short enough stay bit for bit the same."""
    seen = {}
    for length in (0.5, 3.0, 4.99):
        parameters = with_gradients(*of_length(draw, length, (2, 3), (4,)))
        lab.clip_global_norm(parameters, 5.0)
        seen[f"limit 5, length {length}"] = gradients(parameters)
    return seen


@exercise.check(points=1.5, judge=CLIPPED)
def measured_together(lab, draw):
    """Two tensors have one length and get one factor: 3, 4 and 12 have the length 13."""
    return {
        "3, 4 and 12, limit 6.5": clipped(
            lab, 6.5, torch.tensor([3.0, -4.0]).double(), torch.tensor([[12.0]]).double()
        ),
        "random": clipped(
            lab, 2.0, *of_length(draw, float(draw.uniform(low=3, high=9)), (3, 2), (5,))
        ),
    }


@exercise.check(points=0.5)
def returned(lab, draw):
    """Returns the length before, as a tensor without dimensions."""
    above, below = float(draw.uniform(low=20, high=30)), float(draw.uniform(low=0.2, high=0.8))
    norm = lab.clip_global_norm(with_gradients(*of_length(draw, above, (4,), (2,))), 1.0)
    return {
        "is a tensor": isinstance(norm, Tensor),
        "shape": list(norm.shape) if isinstance(norm, Tensor) else "none",
        "below the limit": lab.clip_global_norm(with_gradients(*of_length(draw, below, (4,))), 1.0),
        "above the limit": norm,
    }


@exercise.check(points=0.5, hidden=True, judge=CLIPPED)
def some_without_gradients(lab, draw):
    """Skips parameters without a gradient, and none of the others."""
    grads = of_length(draw, 9.0, (3,), (2, 2))
    return {
        "the first has none": clipped(lab, 4.0, None, *(grad.clone() for grad in grads)),
        "the second has none": clipped(lab, 4.0, grads[0], None, grads[1]),
    }


@exercise.check(points=0.5, hidden=True, judge=CLIPPED)
def from_an_iterator(lab, draw):
    """Takes `model.parameters()` as well as a list."""
    model = nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 4)).double()
    for parameter in model.parameters():
        parameter.grad = draw.uniform(*parameter.shape, low=1, high=3)
    norm = lab.clip_global_norm(model.parameters(), 0.75)
    return {"length before": norm, "gradients": gradients(model.parameters())}


@exercise.check(points=0.5, hidden=True, judge=CLIPPED)
def in_place(lab, draw):
    """Changes the gradients in place, and nothing else."""
    grads = of_length(draw, 30.0, (3,), (2, 4))
    parameters = with_gradients(*grads)
    lab.clip_global_norm(parameters, 3.0)
    return {
        "same tensors": [p.grad is grad for p, grad in zip(parameters, grads, strict=True)],
        "their numbers": grads,
        "weights": [p.detach() for p in parameters],
        "weights are trained": [p.requires_grad for p in parameters],
    }


@exercise.check(points=1, hidden=True, judge=CLIPPED)
def other_sizes(lab, draw):
    """Is right for any number of gradients, none included, of any shape."""

    def ask(count, shape):
        grads = [draw.uniform(*shape, low=-6, high=-3) for _ in range(count)]
        return clipped(lab, 2.5, *grads)

    return {
        **draw.each_size(ask, count=3, shape=(2, 5), may_be_empty=["count", "shape"]),
        "without axes": clipped(lab, 2.0, 3 + draw.uniform(), 5 * draw.normal(2)),
    }


@exercise.check(points=0.5, hidden=True, judge=CLIPPED)
def special_lengths(lab, draw):
    """Is right at the limit, for zeros and without a limit; a length may be infinite or NaN."""
    zeros, large = torch.zeros(3).double(), of_length(draw, 50.0, (2, 3), (4,))

    def length(*numbers):
        spoiled = torch.tensor(numbers).double()
        return lab.clip_global_norm(with_gradients(spoiled, draw.normal(4)), 1.0)

    return {
        "exactly at the limit": clipped(lab, 13.0, torch.tensor([3.0, 4.0, 12.0]).double()),
        "zeros": clipped(lab, 1.0, zeros, zeros.clone()),
        "no limit": clipped(lab, math.inf, *large),
        "no limit, zeros": clipped(lab, math.inf, zeros.clone()),
        "an infinite gradient": length(1.0, math.inf),
        "minus infinity": length(-math.inf, 2.0),
        "a gradient that is not a number": length(1.0, math.nan),
    }


exercise.promises(
    {
        "Limit the length of all gradients together, and keep their direction.": (
            "measured_together"
        ),
        "The length is the Euclidean norm of all gradients as if they were one vector.": (
            "measured_together returned"
        ),
        "If it is above `max_norm`, all gradients are multiplied, in place, by the same number, so "
        "that their length becomes `max_norm`.": "measured_together in_place",
        "Otherwise they stay bit for bit the same.": "within_the_limit",
        "a list or an iterator, such as `model.parameters()`": "from_an_iterator",
        "those whose `grad` is None are skipped": "some_without_gradients",
        "infinity means that there is no limit": "special_lengths",
        "The length before, a tensor without dimensions.": "returned",
        "It is 0 if there are no gradients.": "other_sizes",
        "It is infinite or NaN if one of their numbers is": "special_lengths",
    },
    explained=["max_norm: above 0", "and then they are not usable afterwards"],
)
