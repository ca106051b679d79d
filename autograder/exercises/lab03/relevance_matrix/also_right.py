"""Other right versions of the scores; the first one is the base of the mistakes."""

from __future__ import annotations

import torch

from attnlab.attention import qkv

from . import exercise


@exercise.also_right
def queries_times_keys(X, W_q, W_k):
    q = X @ W_q
    k = X @ W_k
    return q @ k.mT  # (..., T, T)


@exercise.also_right
def by_einsum(X, W_q, W_k):
    return torch.einsum("...id,de,fe,...jf->...ij", X, W_q, W_k, X)


@exercise.also_right
def one_bilinear_form(X, W_q, W_k):
    return X @ (W_q @ W_k.T) @ X.transpose(-2, -1)


@exercise.also_right
def by_qkv(X, W_q, W_k):
    q, k, _ = qkv(X, W_q, W_k, W_k)
    return torch.matmul(q, k.transpose(-1, -2))


@exercise.also_right
def pair_by_pair(X, W_q, W_k):
    words = X.unbind(-2)
    rows = [
        torch.stack([((one @ W_q) * (other @ W_k)).sum(-1) for other in words], -1) for one in words
    ]
    return torch.stack(rows, -2)
