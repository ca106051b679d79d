"""Other right versions of `combine`; the mistakes edit two of them."""

import functools

import torch

from . import exercise


@exercise.also_right
def by_reduce(*masks):
    given = [mask for mask in masks if mask is not None]
    return functools.reduce(torch.logical_and, given) if given else None


@exercise.also_right
def stacked(*masks):
    given = [mask for mask in masks if mask is not None]
    if len(given) == 0:
        return None
    return torch.stack(torch.broadcast_tensors(*given)).all(0)


@exercise.also_right
def nobody_forbids(*masks):
    result = None
    for mask in masks:
        if mask is None:
            continue
        result = ~mask if result is None else result | ~mask
    return None if result is None else ~result


@exercise.also_right
def smallest(*masks):
    given = [mask.int() for mask in masks if mask is not None]
    if not given:
        return None
    out = given[0]
    for mask in given[1:]:
        out = torch.minimum(out, mask)
    return out.bool()


@exercise.also_right
def one_after_the_other(*masks):
    result = None
    for mask in masks:
        if mask is not None:
            result = mask if result is None else result & mask
    return result
