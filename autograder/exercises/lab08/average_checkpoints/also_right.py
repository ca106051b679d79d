"""Other right versions of `average_checkpoints`; most mistakes are edits of the first."""

from __future__ import annotations

import collections
import copy

import torch

from . import exercise


@exercise.also_right
def summed(states):
    if len(states) == 0:
        raise ValueError("no checkpoints")
    names = states[0].keys()
    for state in states:
        if state.keys() != names:
            raise ValueError("other names")
        if any(state[name].shape != states[0][name].shape for name in names):
            raise ValueError("other shapes")
    averaged = {}
    for name in names:
        newest = states[-1][name]
        if not newest.is_floating_point():
            averaged[name] = newest.clone()
            continue
        wide = torch.float64 if newest.dtype == torch.float64 else torch.float32
        total = states[0][name].to(wide, copy=True)
        for state in states[1:]:
            total += state[name].to(wide)
        averaged[name] = (total / len(states)).to(newest.dtype)
    return averaged


@exercise.also_right
def in_order_of_reading(states):
    params_dict = collections.OrderedDict()
    keys, kinds, count = None, {}, len(states)
    for state in states:
        if keys is None:
            keys = list(state.keys())
        if sorted(keys) != sorted(state):
            raise ValueError(f"expected {keys}, got {list(state)}")
        for key in keys:
            value = state[key]
            kinds[key] = value.dtype
            if key in params_dict and params_dict[key].shape != value.shape:
                raise ValueError(key)
            if not torch.is_floating_point(value):
                params_dict[key] = value.clone()
                continue
            value = value.float() if value.dtype in (torch.float16, torch.bfloat16) else value
            if key not in params_dict:
                params_dict[key] = value.clone()
            else:
                params_dict[key] += value
    if not count:
        raise ValueError("empty")
    for key, value in params_dict.items():
        if value.is_floating_point():
            params_dict[key] = value.div_(count).to(kinds[key])
    return params_dict


@exercise.also_right
def stacked(states):
    if not states:
        raise ValueError("nothing to average")
    result = copy.deepcopy(dict(states[-1]))
    for state in states:
        if set(state) != set(result):
            raise ValueError("names differ")
        for name in result:
            if state[name].size() != result[name].size():
                raise ValueError(f"{name} differs")
    for name, tensor in result.items():
        if tensor.dtype.is_floating_point:
            wide = torch.stack([state[name].double() for state in states])
            result[name] = wide.mean(dim=0).to(tensor.dtype)
    return result


@exercise.also_right
def running_mean(states):
    if not states:
        raise ValueError("no states")
    shapes = [{name: tuple(x.shape) for name, x in state.items()} for state in states]
    if any(other != shapes[0] for other in shapes):
        raise ValueError("not of one model")
    mean = {name: x.double().clone() for name, x in states[0].items()}
    for seen, state in enumerate(states[1:], start=2):
        for name, x in state.items():
            mean[name] = mean[name] + (x.double() - mean[name]) / seen
    last = states[-1]
    return {
        name: x.to(last[name].dtype) if last[name].is_floating_point() else last[name].clone()
        for name, x in mean.items()
    }
