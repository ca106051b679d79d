"""Other right versions of softmax; the first one is the base of the mistakes."""

from __future__ import annotations

import torch

from . import exercise


@exercise.also_right
def in_three_lines(x, dim=-1):
    scores = x if x.is_floating_point() else x.double()
    exp = (scores - scores.amax(dim, keepdim=True)).exp()
    return exp / exp.sum(dim, keepdim=True)


@exercise.also_right(about="takes the exponential of a difference of logarithms")
def minus_logsumexp(x, dim=-1):
    scores = x if x.is_floating_point() else x.to(torch.get_default_dtype())
    below_top = scores - scores.amax(dim, keepdim=True)
    return (below_top - below_top.exp().sum(dim, keepdim=True).log()).exp()


@exercise.also_right(about="computes 16 bits in float64 and rounds its result")
def by_logsumexp(x, dim=-1):
    wide = x if x.dtype in (torch.float32, torch.float64) else x.double()
    shifted = wide - wide.amax(dim, keepdim=True)
    p = (shifted - shifted.logsumexp(dim, keepdim=True)).exp()
    return p.to(x.dtype) if x.is_floating_point() else p


@exercise.also_right
def maximum_detached(x, dim=-1):
    x = torch.as_tensor(x, dtype=None if x.is_floating_point() else torch.float32)
    top, _ = torch.max(x.detach(), dim=dim, keepdim=True)
    exp = torch.exp(x - top)
    return torch.div(exp, torch.sum(exp, dim=dim, keepdim=True))


@exercise.also_right(about="moves the axis to the end and back")
def axis_moved_to_the_end(x, dim=-1):
    x = x.float() if not torch.is_floating_point(x) else x
    if x.ndim == 0:
        return axis_moved_to_the_end(x[None])[0]
    last = x.transpose(dim, -1)
    exp = (last - last.max(-1).values.unsqueeze(-1)).exp()
    return torch.einsum("...i,...->...i", exp, 1 / exp.sum(-1)).transpose(dim, -1)


@exercise.also_right(about="works on one slice at a time")
def slice_by_slice(x, dim=-1):
    def one(row):
        exp = torch.exp(row - max(row))
        return exp / sum(exp)

    if x.ndim == 0:
        return one(x[None] * 1.0)[0]
    last = (x if x.is_floating_point() else x * 1.0).movedim(dim, -1)
    rows = [one(row) for row in last.reshape(-1, last.shape[-1])]
    return torch.stack(rows).reshape(last.shape).movedim(-1, dim)
