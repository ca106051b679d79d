"""Known mistakes of `clip_global_norm` in other styles, and other ideas of what is limited."""

from __future__ import annotations

import math

import torch

from . import exercise
from .also_right import as_in_older_torch, as_in_torch, one_long_vector

NONE = (
    "Your code fails if a parameter has no gradient. What is its `grad` then, and what should "
    "happen to it?"
)
EMPTY = "Your code fails if no parameter has a gradient. What should the function return then?"
NOT_IN_PLACE = (
    "The length is measured, but the parameters' gradients stay: you scale copies. Which kind of "
    "operation changes the tensor itself?"
)

as_torch = exercise.edits(as_in_torch)

as_torch(
    "coefficient_not_clamped",
    "torch.clamp(clip_coef, max=1.0)",
    "clip_coef",
    "You multiply by a factor above 1 if the gradients are short, so small gradients grow. Which "
    "factors may occur?",
)
as_torch(
    "clamped_from_below",
    "torch.clamp(clip_coef, max=1.0)",
    "torch.clamp(clip_coef, min=1.0)",
    "Your factor is never below 1, so long gradients stay and short ones grow. On which side does "
    "the factor need a limit?",
)
as_torch(
    "large_epsilon",
    "(total_norm + 1e-6)",
    "(total_norm + 1e-2)",
    "You add so much to the length that the result is visibly too short. Which lengths would need "
    "an addition at all?",
)
as_torch(
    "empty_is_an_error",
    "    if len(grads) == 0:\n        return torch.tensor(0.0)\n",
    "",
    EMPTY,
)
as_torch(
    "no_dimensions_for_one",
    "torch.linalg.vector_norm(torch.stack(norms), 2.0)",
    "torch.linalg.vector_norm(torch.stack(norms), 2.0) if len(norms) > 1 else norms",
    "Your length is a list if there is a single gradient. What does the task ask for?",
)
as_torch(
    "nothing_for_no_gradient",
    "        return torch.tensor(0.0)\n",
    "        return None\n",
    "You return None if no parameter has a gradient. What should the function return then?",
)

in_python = exercise.edits(as_in_older_torch)

in_python(
    "two_roots",
    "total_norm += param_norm.item() ** 2",
    "total_norm += param_norm.item()",
    "You add up lengths and take the root of the sum. What do you add up under a root?",
)
in_python.several(
    "division_by_zero",
    {
        "max_norm / (total_norm + 1e-6)": "max_norm / total_norm",
    },
    "Your code divides a Python number by a length of 0. Which gradients need no division?",
)

flat = exercise.edits(one_long_vector)

flat(
    "copies_scaled",
    "    for g in grads:\n        g *= scale\n",
    "    flat *= scale\n",
    NOT_IN_PLACE,
)
flat(
    "empty_list_is_an_error",
    " if grads else torch.zeros(1)",
    "",
    EMPTY,
)
flat(
    "zeros_become_nan",
    "torch.where(norm > max_norm, max_norm / norm, torch.ones_like(norm))",
    "torch.minimum(norm, torch.tensor(max_norm).double()) / norm",
    "Gradients of 0 become NaN. Which division does your code do there?",
)


in_python(
    "none_has_no_numbers",
    "parameters = list(filter(lambda p: p.grad is not None, parameters))",
    "parameters = list(parameters)",
    NONE,
)


@exercise.mistake(NONE)
def none_has_no_norm(parameters, max_norm):
    parameters = list(parameters)
    norm = torch.stack([torch.tensor(0.0).double(), *(p.grad.norm() for p in parameters)]).norm()
    if norm > max_norm:
        for p in parameters:
            p.grad *= max_norm / norm
    return norm


@exercise.mistake(NONE)
def none_scaled(parameters, max_norm):
    parameters = list(parameters)
    norms = [p.grad.norm() for p in parameters if p.grad is not None]
    norm = torch.stack([torch.tensor(0.0).double(), *norms]).norm()
    if norm > max_norm:
        for p in parameters:
            p.grad.mul_(max_norm / norm)
    return norm


@exercise.mistake(
    "You limit each tensor by itself, and return the length of the last one. How many lengths does "
    "the task speak of?"
)
def each_by_itself_and_the_last_returned(parameters, max_norm):
    norm = torch.tensor(0.0)
    for p in parameters:
        if p.grad is not None:
            norm = p.grad.norm()
            if norm > max_norm:
                p.grad.mul_(max_norm / norm)
    return norm


@exercise.mistake(
    "Each tensor has a limit of its own in your code, so the direction of the whole gradient "
    "changes. How many lengths does the task speak of?"
)
def each_by_itself(parameters, max_norm):
    norms = [torch.tensor(0.0)]
    for p in parameters:
        if p.grad is not None:
            norm = p.grad.norm()
            norms.append(norm)
            if norm > max_norm:
                p.grad.mul_(max_norm / norm)
    return torch.stack([norm.double() for norm in norms]).norm()


@exercise.mistake(
    "You limit each number (clipping by value), so the direction of the gradient changes. "
    "What does the task limit?"
)
def clipped_by_value(parameters, max_norm):
    grads = [p.grad for p in parameters if p.grad is not None]
    norm = torch.stack([torch.tensor(0.0).double(), *(g.norm().double() for g in grads)]).norm()
    for g in grads:
        g.clamp_(-max_norm, max_norm)
    return norm


@exercise.mistake(
    "Your code cannot work without a limit (`max_norm` infinite): infinity times something is "
    "left in the gradients. Which gradients stay as they are?"
)
def multiplied_before_divided(parameters, max_norm):
    grads = [p.grad for p in parameters if p.grad is not None]
    norm = torch.stack([torch.tensor(0.0).double(), *(g.norm().double() for g in grads)]).norm()
    for g in grads:
        g.mul_(max_norm).div_(max(float(norm), max_norm))
    return norm


@exercise.mistake(
    "Your limit is for the length of one tensor: the factor comes from the longest of them. Of "
    "which vector is the length limited?"
)
def factor_of_the_longest(parameters, max_norm):
    grads = [p.grad for p in parameters if p.grad is not None]
    norms = torch.stack([torch.tensor(0.0).double(), *(g.norm().double() for g in grads)])
    if norms.max() > max_norm:
        for g in grads:
            g.mul_(max_norm / norms.max())
    return norms.norm()


@exercise.mistake(
    "The limit grows with the number of tensors in your code. What is `max_norm` the limit of?"
)
def limit_for_each_tensor(parameters, max_norm):
    grads = [p.grad for p in parameters if p.grad is not None]
    norm = torch.stack([torch.tensor(0.0).double(), *(g.norm().double() for g in grads)]).norm()
    limit = max_norm * math.sqrt(max(1, len(grads)))
    for g in grads:
        g.mul_(min(1.0, limit / max(float(norm), 1e-12)))
    return norm
