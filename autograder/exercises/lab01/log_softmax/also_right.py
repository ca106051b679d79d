"""Other right versions of logsumexp and log_softmax."""

from __future__ import annotations

import math  # noqa: F401 - a mistake uses it

import torch

from gradekit.exercise import SEVERAL

from . import exercise


@exercise.also_right(of="logsumexp")
def maximum_apart(x, dim=-1):
    top = x.amax(dim, keepdim=True).clamp(min=torch.finfo(x.dtype).min)
    return (x - top).exp().sum(dim).log() + top.squeeze(dim)


@exercise.also_right(of="log_softmax")
def shifted_first(x, dim=-1):
    shifted = x - x.amax(dim, keepdim=True)
    return shifted - shifted.exp().sum(dim, keepdim=True).log()


@exercise.also_right(of="logsumexp")
def with_a_mask_for_empty_rows(x, dim=-1):
    top = x.max(dim=dim, keepdim=True).values
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    return (torch.log(torch.sum(torch.exp(x - top), dim=dim, keepdim=True)) + top).squeeze(dim)


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


@exercise.also_right(of=SEVERAL)
def shifted_with_own_logsumexp():
    def logsumexp(x, dim=-1):
        top = x.amax(dim, keepdim=True).clamp(min=torch.finfo(x.dtype).min)
        return (x - top).exp().sum(dim).log() + top.squeeze(dim)

    def log_softmax(x, dim=-1):
        shifted = x - x.amax(dim, keepdim=True)
        return shifted - logsumexp(shifted, dim).unsqueeze(dim)

    return {"logsumexp": logsumexp, "log_softmax": log_softmax}
