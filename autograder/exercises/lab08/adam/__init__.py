"""Adam: updates of one length, from two averages of gradients, with weight decay in two forms."""

from __future__ import annotations

import copy
import importlib
from contextlib import contextmanager

import torch
from torch import nn

from attnlab.checking.errors import ForbiddenCallError
from attnlab.checking.observation import dtype_of
from attnlab.optimizers import Adam
from gradekit.exercise import Exercise

exercise = Exercise(Adam)


@contextmanager
def without_torchs_adam():
    """In this block, an optimiser that lets torch's Adam do the work stops."""

    def stop(*args, **kwargs):
        raise ForbiddenCallError("torch.optim.Adam.step")

    modules = {name: importlib.import_module(f"torch.optim.{name}") for name in ("adam", "adamw")}
    originals = {name: getattr(module, name) for name, module in modules.items()}
    for name, module in modules.items():
        setattr(module, name, stop)
    try:
        yield
    finally:
        for name, module in modules.items():
            setattr(module, name, originals[name])


def parameters(draw, *shapes):
    """Parameters with random numbers, one for each shape."""
    return [nn.Parameter(draw.normal(*shape)) for shape in shapes]


def apply_gradients(optimizer, made, grads):
    """One update with these gradients; None for a parameter that has none."""
    for parameter, grad in zip(made, grads, strict=True):
        parameter.grad = None if grad is None else grad.clone()
    with without_torchs_adam():
        optimizer.step()


def after_each(optimizer, made, gradients):
    """The parameters after each of several updates."""
    seen = {}
    for number, grads in enumerate(gradients, start=1):
        apply_gradients(optimizer, made, grads)
        seen[f"after update {number}"] = [p.detach().clone() for p in made]
    return seen


def drawn_gradients(draw, made, updates, scale=1.0):
    """Random gradients of every parameter, for each update."""
    return [[scale * draw.normal(*p.shape) for p in made] for _ in range(updates)]


@exercise.check(points=2)
def first_update(lab, draw):
    """The first update moves each weight by lr, against its gradient, however large that is."""
    (weights,) = made = parameters(draw, (7,))
    size = 10.0 ** torch.arange(-3, 4, dtype=torch.float64)
    sign = draw.choice([-1.0, 1.0], 7)
    lr, before = float(draw.uniform(1, low=0.05, high=0.2)), weights.detach().clone()
    apply_gradients(lab.Adam(made, lr=lr, eps=1e-12), made, [sign * size])
    return {"moved by, in units of lr": (weights.detach() - before) / lr}


@exercise.check(points=2)
def six_updates(lab, draw):
    """Six updates by random gradients, with any betas."""
    made = parameters(draw, (3, 4), (5,))
    betas = tuple(draw.uniform(2, low=0.5, high=0.95).tolist())
    return after_each(lab.Adam(made, 0.1, betas), made, drawn_gradients(draw, made, 6))


@exercise.check(points=1)
def weight_decay(lab, draw):
    """Weight decay in both forms, coupled and decoupled."""
    seen = {}
    for decoupled in (False, True):
        made = parameters(draw, (3, 4))
        optimizer = lab.Adam(made, 0.1, weight_decay=0.3, decoupled_weight_decay=decoupled)
        name = "decoupled" if decoupled else "coupled"
        seen[name] = after_each(optimizer, made, drawn_gradients(draw, made, 3))
    return seen


@exercise.check(points=1)
def zero_and_missing_gradients(lab, draw):
    """A gradient of zeros is a gradient; a parameter whose gradient is None is left alone."""
    seen = {}
    for decay in (0.0, 0.3):
        made = parameters(draw, (3,), (3,), (2, 2), (4,))
        groups = [{"params": made[:3]}, {"params": made[3:]}]
        optimizer = lab.Adam(groups, 0.1, weight_decay=decay, decoupled_weight_decay=True)
        gradients = [
            [torch.zeros(3).double(), None, draw.normal(2, 2), draw.normal(4)] for _ in range(2)
        ]
        seen[f"weight_decay={decay}: zeros, None, others"] = after_each(optimizer, made, gradients)
    return seen


@exercise.check(points=1, hidden=True)
def first_gradient_later(lab, draw):
    """Each parameter counts its own updates: those in which it has a gradient."""
    made = parameters(draw, (3,), (4,), (2,))
    gradients = drawn_gradients(draw, made, 6)
    for number, grads in enumerate(gradients):
        grads[1] = grads[1] if number >= 3 else None
        grads[2] = grads[2] if number % 2 else None
    return after_each(lab.Adam(made, 0.1), made, gradients)


@exercise.check(points=1, hidden=True)
def place_of_eps(lab, draw):
    """`eps` is added to the root of the corrected average, whatever the size of the gradients."""
    seen = {}
    for eps in (1e-8, 1e-3, 0.1):
        for scale in (1e-6, 1e-3, 1.0):
            made = parameters(draw, (5,))
            optimizer = lab.Adam(made, 0.1, (0.8, 0.95), eps)
            gradients = drawn_gradients(draw, made, 4, scale)
            before = [p.detach().clone() for p in made]
            for grads in gradients:
                apply_gradients(optimizer, made, grads)
            moved = [p.detach() - old for p, old in zip(made, before, strict=True)]
            seen[f"eps={eps}, gradients of size {scale}: moved by"] = moved
    return seen


@exercise.check(points=1, hidden=True)
def groups(lab, draw):
    """Each group has its own numbers, and they may change between two updates."""
    made = parameters(draw, (3,), (4,), (2, 3))
    numbers = [
        {"params": made[:1], "lr": 0.03, "betas": (0.5, 0.7)},
        {"params": made[1:], "eps": 0.1, "weight_decay": 0.2},
    ]
    optimizer = lab.Adam(numbers, 0.1, decoupled_weight_decay=True)
    early = after_each(optimizer, made, drawn_gradients(draw, made, 2))
    first, second = optimizer.param_groups
    first["lr"], first["eps"] = 0.2, 0.05
    second["lr"], second["weight_decay"], second["betas"] = 0.05, 0.5, (0.8, 0.6)
    return {
        "at first": early,
        "then": after_each(optimizer, made, drawn_gradients(draw, made, 2)),
    }


@exercise.check(points=1, hidden=True)
def in_place(lab, draw):
    """Changes parameters in place, and leaves gradients as they are."""
    seen = {}
    for decoupled in (False, True):
        made = parameters(draw, (3, 4), (5,))
        optimizer = lab.Adam(made, 0.1, weight_decay=0.3, decoupled_weight_decay=decoupled)
        same_memory, grads = [p.detach() for p in made], drawn_gradients(draw, made, 2)
        for each in grads:
            apply_gradients(optimizer, made, each)
        name = "decoupled" if decoupled else "coupled"
        seen[name] = {
            "parameters, read from their old memory": same_memory,
            "their gradients": [p.grad for p in made],
        }
    return seen


@exercise.check(points=1, hidden=True)
def resumed(lab, draw):
    """A new Adam that loads the `state_dict()` goes on as if nothing had happened."""
    made = parameters(draw, (3, 4), (5,), (2,))
    optimizer = lab.Adam(made, 0.1, weight_decay=0.1)
    for grads in drawn_gradients(draw, made, 3):
        apply_gradients(optimizer, made, [*grads[:2], None])
    others = [nn.Parameter(p.detach().clone()) for p in made]
    resumed = lab.Adam(others, 0.7)
    resumed.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    return after_each(resumed, others, drawn_gradients(draw, made, 3))


@exercise.check(points=0.5, hidden=True)
def shapes_and_dtypes(lab, draw):
    """Parameters of any shape and memory layout, and of float32, in which they stay."""
    made = [
        *parameters(draw, (), (1,), (0,), (2, 1, 3)),
        nn.Parameter(draw.strided(draw.normal(3, 4))),
    ]
    rough = [nn.Parameter(draw.normal(3, 4).float())]
    optimizer = lab.Adam(rough, 0.1)
    apply_gradients(optimizer, rough, [draw.normal(3, 4).float()])
    return {
        "float64": after_each(lab.Adam(made, 0.1), made, drawn_gradients(draw, made, 3)),
        "dtype of a float32 parameter": dtype_of(rough[0]),
        "float32": rough[0].detach(),
    }


@exercise.check(points=0.5, hidden=True)
def closures(lab, draw):
    """Calls a closure once, with gradients, before the update, and returns what it returned."""
    (weight,) = made = parameters(draw, (1,))
    optimizer, calls = lab.Adam(made), []

    def closure():
        optimizer.zero_grad()
        loss = weight.square().sum()
        loss.backward()
        calls.append(loss.item())
        return loss

    with without_torchs_adam():
        returned = optimizer.step(closure)
    return {"returned": returned, "calls": calls, "weight": weight.detach()}
