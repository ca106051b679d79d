"""Other right versions of softmax_backward; the first is the base of the mistakes."""

from __future__ import annotations

import torch

from . import exercise


@exercise.also_right
def in_two_lines(p, grad_p):
    inner = (p * grad_p).sum(-1, keepdim=True)
    return p * (grad_p - inner)


@exercise.also_right
def two_terms(p, grad_p):
    product = p * grad_p
    return product - p * torch.sum(product, dim=-1, keepdim=True)


@exercise.also_right
def by_einsum(p, grad_p):
    inner = torch.einsum("...v,...v->...", p, grad_p)
    return torch.einsum("...v,...v->...v", p, grad_p - inner.unsqueeze(-1))


@exercise.also_right
def row_by_row(p, grad_p):
    rows, grads = p.reshape(-1, p.shape[-1]), grad_p.reshape(-1, p.shape[-1])
    done = [row * (grad - row @ grad) for row, grad in zip(rows, grads, strict=True)]
    return torch.stack(done).reshape(p.shape)


@exercise.also_right
def by_matmul(p, grad_p):
    inner = (p.unsqueeze(-2) @ grad_p.unsqueeze(-1)).squeeze(-1)
    return p * grad_p - inner * p
