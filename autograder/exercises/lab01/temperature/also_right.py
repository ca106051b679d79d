"""Other right versions of temperature and entropy."""

from __future__ import annotations

import torch

from . import exercise


@exercise.also_right(of="temperature")
def one_hot_when_cold(logits, T):
    if T == 0:
        winner = logits.argmax(-1)
        return torch.nn.functional.one_hot(winner, logits.shape[-1]).to(logits.dtype)
    below = logits - logits.amax(-1, keepdim=True)
    return torch.softmax(below / T, -1)


@exercise.also_right(of="entropy")
def by_xlogy(p):
    return -torch.xlogy(p, p).sum(-1)


@exercise.also_right(of="temperature")
def by_one_hot(logits, T):
    if T == 0:
        V = logits.shape[-1]
        return torch.nn.functional.one_hot(logits.argmax(dim=-1), num_classes=V).to(logits)
    z = (logits - logits.amax(-1, keepdim=True)) / T
    return z.exp() / z.exp().sum(-1, keepdim=True)


@exercise.also_right(of="temperature")
def by_comparison(logits, T):
    top = logits.amax(-1, keepdim=True)
    if T < 1e-9:
        return (logits == top).type(logits.dtype)
    return torch.nn.functional.softmax((logits - top) / T, dim=-1)


@exercise.also_right(of="temperature")
def very_cold_for_zero(logits, T):
    top = logits - logits.max(-1, keepdim=True).values
    return torch.softmax(top / max(T, 1e-15), dim=-1)


@exercise.also_right(of="entropy")
def zeros_replaced(p):
    safe = torch.where(p > 0, p, torch.ones_like(p))
    return -(p * torch.log(safe)).sum(dim=-1)


@exercise.also_right(of="entropy")
def by_entr(p):
    return torch.special.entr(p).sum(-1)


@exercise.also_right(of="entropy")
def products_cleaned(p):
    return -torch.nan_to_num(p * torch.log(p), nan=0.0).sum(-1)


@exercise.also_right(of="entropy")
def smallest_number_inside(p):
    return -torch.einsum("...v,...v->...", p, p.clamp_min(torch.finfo(p.dtype).tiny).log())
