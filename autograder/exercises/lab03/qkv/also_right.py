"""Other right versions of the projections; the first one is the base of the mistakes."""

from __future__ import annotations

import torch

from . import exercise


@exercise.also_right
def three_products(X, W_q, W_k, W_v):
    q = X @ W_q  # (..., T, d_k)
    k = X @ W_k  # (..., T, d_k)
    v = X @ W_v  # (..., T, d_v)
    return q, k, v


@exercise.also_right
def one_after_the_other(X, W_q, W_k, W_v):
    return (torch.tensordot(X, W, dims=1) for W in (W_q, W_k, W_v))


@exercise.also_right
def by_einsum(X, W_q, W_k, W_v):
    q = torch.einsum("...td,dk->...tk", X, W_q)
    k = torch.einsum("...td,dk->...tk", X, W_k)
    v = torch.einsum("...td,dv->...tv", X, W_v)
    return q, k, v


@exercise.also_right
def by_linear(X, W_q, W_k, W_v):
    return [torch.nn.functional.linear(X, W.T) for W in (W_q, W_k, W_v)]


@exercise.also_right
def one_fused_product(X, W_q, W_k, W_v):
    sizes = [W_q.size(1), W_k.size(1), W_v.size(1)]
    return torch.matmul(X, torch.cat((W_q, W_k, W_v), dim=1)).split(sizes, dim=-1)


@exercise.also_right
def word_by_word(X, W_q, W_k, W_v):
    def project(W):
        columns = [(X * W[:, j]).sum(-1) for j in range(W.shape[1])]
        return torch.stack(columns, dim=-1)

    return project(W_q), project(W_k), project(W_v)


@exercise.also_right
def columns_as_in_lecture_n(X, W_q, W_k, W_v):
    q, k, v = ((W.t() @ X.transpose(-1, -2)).transpose(-1, -2) for W in (W_q, W_k, W_v))
    return q, k, v
