"""Other right versions; most mistakes edit one of the first three."""

from __future__ import annotations

import math
from copy import deepcopy  # noqa: F401 - edits of these versions use it

import torch
from torch import nn

from attnlab.train_step import autocast, update

from . import exercise


@exercise.also_right(of="scaler_for")
def plain_scaler(precision, device, tokens=1):
    scale = 65536.0 / 2 ** int(math.log2(tokens) + 0.5)
    wanted = precision == "fp16"
    return torch.amp.GradScaler(device.type, init_scale=scale, enabled=wanted)


@exercise.also_right(of="scaler_for")
def two_scalers(precision, device, tokens=1):
    if precision != "fp16":
        return torch.amp.GradScaler(device=device.type, enabled=False)
    exponent = 16
    while tokens > 1.5:
        tokens, exponent = tokens / 2, exponent - 1
    return torch.amp.GradScaler(device=device.type, init_scale=2.0**exponent)


@exercise.also_right(of="update")
def plain_update(optimizer, scaler, parameters, max_norm=None):
    limit = math.inf if max_norm is None else max_norm
    before = scaler.get_scale()
    scaler.unscale_(optimizer)
    norm = nn.utils.clip_grad_norm_(parameters, limit)
    scaler.step(optimizer)
    scaler.update()
    updated = scaler.get_scale() >= before
    return norm, updated


@exercise.also_right(of="update")
def asks_the_norm(optimizer, scaler, parameters, max_norm=None):
    parameters = [p for p in parameters if p.grad is not None]
    scaler.unscale_(optimizer)
    norm = torch.stack([p.grad.norm() for p in parameters]).norm()
    finite = bool(norm.isfinite())
    if finite and max_norm is not None and norm > max_norm:
        for p in parameters:
            p.grad.mul_(max_norm / norm)
    scaler.step(optimizer)
    scaler.update()
    return norm, finite


@exercise.also_right(of="update")
def counts_the_steps(optimizer, scaler, parameters, max_norm=None):
    calls = []
    handle = optimizer.register_step_post_hook(lambda *_: calls.append(1))
    scaler.unscale_(optimizer)
    listed = list(parameters)
    norm = nn.utils.get_total_norm([p.grad for p in listed if p.grad is not None])
    if max_norm:
        nn.utils.clip_grads_with_norm_(listed, max_norm, norm)
    scaler.step(optimizer)
    scaler.update()
    handle.remove()
    return norm, len(calls) > 0


@exercise.also_right(of="mixed_step")
def plain_step(model, loss, batch, optimizer, scaler, scheduler, precision, max_norm=1.0):
    device = next(model.parameters()).device
    optimizer.zero_grad()
    with autocast(precision, device):
        value = loss(model, batch)
    scaler.scale(value).backward()
    _, updated = update(optimizer, scaler, model.parameters(), max_norm)
    if updated:
        scheduler.step()
    return value.detach(), updated


@exercise.also_right(of="mixed_step")
def all_by_torch(model, loss, batch, optimizer, scaler, scheduler, precision, max_norm=1.0):
    for parameter in model.parameters():
        parameter.grad = None
    (kind,) = {parameter.device.type for parameter in model.parameters()}
    dtype = {"fp32": None, "bf16": torch.bfloat16, "fp16": torch.float16}[precision]
    with torch.autocast(kind, dtype, enabled=dtype is not None):
        value = loss(model, batch)
    scaled = scaler.scale(value)
    scaled.backward()
    scale = scaler.get_scale()
    scaler.unscale_(optimizer)
    if max_norm is not None:
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    scaler.step(optimizer)
    scaler.update()
    made = not scaler.get_scale() < scale
    if made:
        scheduler.step()
    return value.detach().clone(), made
