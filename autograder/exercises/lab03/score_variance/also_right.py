"""Other right versions of the two measurements; the first two are the bases of the mistakes."""

from __future__ import annotations

import math

import torch

from . import exercise


@exercise.also_right(of="score_variance")
def variance_of_pairs(d, n, generator, scaled=False):
    q, k = torch.randn(2, n, d, generator=generator)  # (n, d) each
    scores = (q * k).sum(-1)  # (n,)
    if scaled:
        scores = scores / math.sqrt(d)
    return scores.var()


@exercise.also_right(of="saturation")
def mean_of_largest(d, num_keys, n, generator, scaled=True):
    q = torch.randn(n, 1, d, generator=generator)
    k = torch.randn(n, num_keys, d, generator=generator)
    scores = (q * k).sum(-1)  # (n, num_keys)
    if scaled:
        scores = scores / math.sqrt(d)
    weights = torch.softmax(scores, -1)
    return weights.amax(-1).mean()


@exercise.also_right(of="score_variance")
def dot_by_einsum(d, n, generator, scaled=False):
    q = torch.randn(n, d, generator=generator, dtype=torch.float64)
    k = torch.randn(n, d, generator=generator, dtype=torch.float64)
    scores = torch.einsum("nd,nd->n", q, k) * (d**-0.5 if scaled else 1.0)
    return torch.var(scores, unbiased=False)


@exercise.also_right(of="score_variance")
def mean_of_squares(d, n, generator, scaled=False):
    """The mean of the scores is 0, so their mean square is their variance; returns a float."""
    k = torch.empty(d, n).normal_(generator=generator)
    q = torch.empty(d, n).normal_(generator=generator)
    mean_square = (q * k).sum(dim=0).pow(2).mean().item()
    return mean_square / d if scaled else mean_square


@exercise.also_right(of="score_variance")
def in_portions(d, n, generator, scaled=False):
    scores = []
    for start in range(0, n, 100):
        q, k = (torch.randn(min(100, n - start), d, generator=generator) for _ in range(2))
        scores.append(torch.linalg.vecdot(q, k) / (math.sqrt(d) if scaled else 1))
    return torch.cat(scores).var()


@exercise.also_right(of="saturation")
def by_matmul(d, num_keys, n, generator, scaled=True):
    q = torch.randn((n, d, 1), generator=generator)
    k = torch.randn((n, num_keys, d), generator=generator)
    scores = torch.matmul(k, q).squeeze(-1)
    if scaled:
        scores = scores * d**-0.5
    weights = torch.nn.functional.softmax(scores, dim=-1)
    return weights.max(dim=-1).values.mean()


@exercise.also_right(of="saturation")
def by_log_sum_exp(d, num_keys, n, generator, scaled=True):
    k = torch.randn(num_keys, n, d, generator=generator).double()
    q = torch.randn(n, d, generator=generator).double()
    scores = torch.einsum("knd,nd->nk", k, q)
    scores = scores / (math.sqrt(d) if scaled else 1.0)
    return float((scores.amax(1) - scores.logsumexp(1)).exp().mean())
