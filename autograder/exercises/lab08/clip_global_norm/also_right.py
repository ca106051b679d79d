"""Other right versions of `clip_global_norm`; most mistakes edit the first."""

from __future__ import annotations

import torch

from . import exercise


@exercise.also_right
def sum_of_squares(parameters, max_norm):
    with_gradient = [p for p in parameters if p.grad is not None]
    total = torch.tensor(0.0, dtype=torch.float64)
    for p in with_gradient:
        total = total + p.grad.pow(2).sum()
    norm = total.sqrt()
    if norm > max_norm:
        for p in with_gradient:
            p.grad.mul_(max_norm / norm)
    return norm


@exercise.also_right
def as_in_torch(parameters, max_norm):
    parameters = list(parameters)
    grads = [p.grad for p in parameters if p.grad is not None]
    if len(grads) == 0:
        return torch.tensor(0.0)
    norms = [torch.linalg.vector_norm(grad, 2.0) for grad in grads]
    total_norm = torch.linalg.vector_norm(torch.stack(norms), 2.0)
    clip_coef = max_norm / (total_norm + 1e-6)
    clip_coef_clamped = torch.clamp(clip_coef, max=1.0)
    for grad in grads:
        grad.mul_(clip_coef_clamped)
    return total_norm


@exercise.also_right
def as_in_older_torch(parameters, max_norm):
    parameters = list(filter(lambda p: p.grad is not None, parameters))
    total_norm = 0.0
    for p in parameters:
        param_norm = p.grad.data.norm(2)
        total_norm += param_norm.item() ** 2
    total_norm = total_norm ** (1.0 / 2)
    clip_coef = max_norm / (total_norm + 1e-6)
    if clip_coef < 1:
        for p in parameters:
            p.grad.data.mul_(clip_coef)
    return torch.tensor(total_norm, dtype=torch.float64)


@exercise.also_right
@torch.no_grad()
def as_in_fairseq(parameters, max_norm):
    grads = [p.grad.detach() for p in parameters if p.grad is not None]
    if not grads:
        return torch.zeros(())
    if len(grads) == 1:
        total_norm = torch.norm(grads[0], p=2)
    else:
        total_norm = torch.norm(torch.stack([torch.norm(g, p=2) for g in grads]))
    if max_norm > 0:
        for g in grads:
            g.mul_((float(max_norm) / (total_norm + 1e-6)).clamp_(max=1))
    return total_norm


@exercise.also_right
def one_long_vector(parameters, max_norm):
    grads = [p.grad for p in parameters if p.grad is not None]
    flat = torch.cat([g.reshape(-1) for g in grads]) if grads else torch.zeros(1)
    norm = flat.norm()
    scale = torch.where(norm > max_norm, max_norm / norm, torch.ones_like(norm))
    for g in grads:
        g *= scale
    return norm


@exercise.also_right
def foreach(parameters, max_norm):
    grads = [p.grad for p in parameters if p.grad is not None]
    if not grads:
        return torch.tensor(0.0)
    norm = torch.stack(torch._foreach_norm(grads)).square().sum() ** 0.5
    torch._foreach_mul_(grads, torch.clamp_max(max_norm / norm, 1.0))
    return norm
