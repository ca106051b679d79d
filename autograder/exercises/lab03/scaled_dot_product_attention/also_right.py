"""Other right versions of attention; the first one is the base of the mistakes."""

from __future__ import annotations

import math

import torch

from . import exercise


@exercise.also_right
def step_by_step(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(q.shape[-1])  # (..., Lq, Lk)
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, -1)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0)
    return weights @ v, weights  # (..., Lq, d_v), (..., Lq, Lk)


@exercise.also_right(about="multiplies by einsum, whose last digits are others")
def by_einsum(q, k, v, mask=None):
    d_k = q.size(-1)
    scores = torch.einsum("...qd,...kd->...qk", q * d_k**-0.5, k)
    if mask is not None:
        scores = torch.where(mask, scores, torch.full_like(scores, torch.finfo(scores.dtype).min))
    weights = torch.nn.functional.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights * mask
    return torch.einsum("...qk,...kv->...qv", weights, v), weights


@exercise.also_right(about="reads only the keys that a query may attend to")
def query_by_query(q, k, v, mask=None):
    """Recurses over leading axes, loops over queries, and reads only the allowed keys."""
    if mask is not None:
        mask = mask.expand(*q.shape[:-1], k.shape[-2])
    if q.ndim > 2:
        pairs = [
            query_by_query(q[b], k[b], v[b], None if mask is None else mask[b])
            for b in range(q.shape[0])
        ]
        return torch.stack([out for out, _ in pairs]), torch.stack([w for _, w in pairs])
    outs, rows = [], []
    for i, query in enumerate(q):
        allowed = torch.arange(len(k)) if mask is None else mask[i].nonzero()[:, 0]
        shares = torch.softmax((k[allowed] * query).sum(-1) / query.numel() ** 0.5, 0)
        rows.append(query.new_zeros(len(k)).index_put((allowed,), shares))
        outs.append((shares[:, None] * v[allowed]).sum(0))
    return torch.stack(outs), torch.stack(rows)


@exercise.also_right(about="adds a table of 0 and -inf to the scores")
def additive_bias(q, k, v, mask=None):
    """Adds a table of 0 and -inf, as torch's documentation does; rows without keys get no -inf."""
    Lq, Lk = q.size(-2), k.size(-2)
    bias, seeing = torch.zeros(Lq, Lk, dtype=q.dtype), torch.ones((), dtype=torch.bool)
    if mask is not None:
        seeing = mask.any(dim=-1, keepdim=True)
        bias = torch.zeros(mask.shape, dtype=q.dtype)
        bias = bias.masked_fill((mask | ~seeing).logical_not(), float("-inf"))
    weights = torch.softmax(q @ k.transpose(-2, -1) * (1 / math.sqrt(q.size(-1))) + bias, dim=-1)
    weights = torch.where(seeing, weights, 0.0)
    return weights @ v, weights


@exercise.also_right(about="replaces NaN by 0 after the softmax")
def nan_to_num_after_masked_fill(q, k, v, mask=None):
    """Safe: in the backward pass, masked_fill replaces the NaN of a row without keys by 0."""
    att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
    if mask is not None:
        att = att.masked_fill(mask == 0, float("-inf"))
    att = torch.nan_to_num(torch.nn.functional.softmax(att, dim=-1))
    return att @ v, att


@exercise.also_right(about="takes the root of d_k in float32")
def minus_a_large_number(q, k, v, mask=None):
    """The root of d_k is a float32 tensor, right to at least seven digits."""
    d_k = torch.tensor(q.size(-1))
    scores = torch.matmul(q, k.transpose(-2, -1)) / torch.sqrt(d_k)
    if mask is not None:
        lowest = -1e30 if scores.dtype != torch.float16 else -6e4
        scores = scores.masked_fill(mask == False, lowest)  # noqa: E712 - as it is often written
    p_attn = scores.softmax(dim=-1)
    if mask is not None:
        p_attn = p_attn.masked_fill(mask == False, 0.0)  # noqa: E712
    return torch.matmul(p_attn, v), p_attn


def by_logsumexp(scores):
    """A softmax that stays exact for scores of 1e12, which a student's test may try."""
    if scores.shape[-1] == 0:
        return scores  # there are no keys, and no maximum
    below = scores - scores.amax(-1, keepdim=True)
    return (below - below.logsumexp(-1, keepdim=True)).exp()


@exercise.also_right(about="works with logarithms of sums instead of a softmax")
def by_batched_products(q, k, v, mask=None):
    """Uses bmm on flattened leading axes, and log-sum-exp instead of a softmax."""
    lead, Lq, Lk = q.shape[:-2], q.shape[-2], k.shape[-2]
    batch = math.prod(lead)
    q3, k3, v3 = (x.reshape(batch, *x.shape[-2:]) for x in (q, k, v))
    nothing = torch.zeros(1, 1, 1, dtype=q.dtype)
    scores = torch.baddbmm(nothing, q3, k3.transpose(1, 2), beta=0, alpha=q.shape[-1] ** -0.5)
    if mask is None:
        weights = by_logsumexp(scores)
    else:
        mask3 = mask.expand(*lead, Lq, Lk).reshape(batch, Lq, Lk)
        low = scores.masked_fill(~mask3, torch.finfo(q.dtype).min / 2)
        weights = by_logsumexp(low) * mask3
    return torch.bmm(weights, v3).reshape(*lead, Lq, v.shape[-1]), weights.reshape(*lead, Lq, Lk)


@exercise.also_right(about="divides exponentials by their sum")
def by_hand(q, k, v, mask=None):
    """Does not use torch's softmax: broadcast products, and the maximum over the allowed keys."""
    scores = (q[..., :, None, :] * k[..., None, :, :]).sum(-1) / q.shape[-1] ** 0.5
    if mask is None:
        mask = torch.ones((), dtype=torch.bool)
    low = scores.masked_fill(~mask, -torch.inf)
    top = torch.nn.functional.pad(low, (0, 1), value=-torch.inf).amax(-1, keepdim=True).detach()
    top = top.masked_fill(top == -torch.inf, 0.0)
    exp = (scores - top).masked_fill(~mask, -torch.inf).exp()
    total = exp.sum(-1, keepdim=True)
    weights = exp / total.masked_fill(total == 0, 1.0)
    return (weights[..., None] * v[..., None, :, :]).sum(-2), weights


@exercise.also_right(about="computes in float64 and rounds its results")
def in_double_precision(q, k, v, mask=None):
    """Computes in float64 and casts back."""
    scores = (q.double() @ k.double().mT).div(q.shape[-1] ** 0.5)
    if mask is not None:
        blocked = mask.logical_not()
        scores = scores.masked_fill(blocked, torch.finfo(scores.dtype).min)
        weights = scores.softmax(-1).masked_fill(blocked, 0.0)
    else:
        weights = scores.softmax(-1)
    return (weights @ v.double()).to(q.dtype), weights.to(q.dtype)
