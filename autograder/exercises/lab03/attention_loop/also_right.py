"""Other right versions of the loop; the first one is the base of the mistakes."""

from __future__ import annotations

import math

import torch

from attnlab.softmax import softmax

from . import exercise


@exercise.also_right
def two_loops(q, K, V):
    scores = torch.stack([(q * key).sum() for key in K])  # (Lk,)
    weights = softmax(scores / math.sqrt(len(q)))
    out = torch.zeros_like(V[0])  # (d_v,)
    for weight, value in zip(weights, V, strict=True):
        out = out + weight * value
    return out


@exercise.also_right
def by_index(q, K, V):
    Lk, d_k = K.shape
    scores = [torch.dot(q, K[j]) / d_k**0.5 for j in range(Lk)]
    top = max(scores)
    exp = [torch.exp(score - top) for score in scores]
    total = sum(exp)
    result = torch.zeros(V.shape[1], dtype=V.dtype)
    for j in range(Lk):
        result += exp[j] / total * V[j]
    return result


@exercise.also_right
def number_by_number(q, K, V):
    scores = []
    for key in K:
        score = 0.0
        for a, b in zip(q, key, strict=True):
            score = score + a * b
        scores.append(score / math.sqrt(q.numel()))
    weights = torch.softmax(torch.stack(scores), dim=0)
    columns = []
    for c in range(V.size(1)):
        columns.append(sum(weights[j] * V[j, c] for j in range(V.size(0))))
    return torch.stack(columns)


@exercise.also_right
def without_loops(q, K, V):
    return torch.softmax(K @ q / math.sqrt(q.shape[-1]), -1) @ V


@exercise.also_right
def by_einsum(q, K, V):
    scores = torch.einsum("d,jd->j", q / torch.sqrt(torch.tensor(q.shape[0])), K)
    return torch.einsum("j,jv->v", torch.nn.functional.softmax(scores, dim=0), V)


@exercise.also_right
def one_pass(q, K, V):
    """Keeps a running maximum, so it never needs all scores at once."""
    top, total = torch.tensor(-math.inf, dtype=q.dtype), torch.zeros((), dtype=q.dtype)
    out = torch.zeros_like(V[0])
    for key, value in zip(K, V, strict=True):
        score = (q @ key) / math.sqrt(len(q))
        higher = torch.maximum(top, score.detach())
        shrink, share = (top - higher).exp(), (score - higher).exp()
        total, out, top = total * shrink + share, out * shrink + share * value, higher
    return out / total
