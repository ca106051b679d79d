"""Other right versions of `sample`; the mistakes edit the first two."""

from __future__ import annotations

import torch

from . import exercise


@exercise.also_right
def masked_logits(logits, temperature=1.0, top_k=None, top_p=None, *, generator=None):
    """Filters write -inf at the tokens' own places, and multinomial draws."""
    if temperature < 0 or (top_k is not None and top_k < 1):
        raise ValueError("temperature or top_k")
    if top_p is not None and (top_p <= 0 or top_p > 1):
        raise ValueError("top_p")
    if temperature == 0:
        return logits.argmax(dim=-1)
    V = logits.shape[-1]
    scores = logits / temperature
    if top_k is not None:
        kth = scores.topk(min(top_k, V), dim=-1).values[..., -1:]
        scores = scores.masked_fill(scores < kth, -torch.inf)
    if top_p is not None:
        ordered, order = scores.sort(dim=-1, descending=True)
        total = ordered.softmax(-1).cumsum(-1)
        drop = total >= top_p
        drop = torch.cat([torch.zeros_like(drop[..., :1]), drop[..., :-1]], -1)
        drop = torch.zeros_like(drop).scatter(-1, order, drop)
        scores = scores.masked_fill(drop, -torch.inf)
    p = scores.softmax(-1)
    token = torch.multinomial(p.reshape(-1, V), 1, generator=generator)
    return token.reshape(logits.shape[:-1])


@exercise.also_right
def probabilities_first(logits, temperature=1.0, top_k=None, top_p=None, *, generator=None):
    """Softmax at once; each filter renormalises; the inverse of the cumulative sum draws."""
    if temperature < 0:
        raise ValueError("temperature")
    if top_k is not None and top_k <= 0:
        raise ValueError("top_k")
    if top_p is not None and not (0 < top_p <= 1):
        raise ValueError("top_p")
    if temperature == 0:
        return logits.max(-1).indices
    p = (logits / temperature).softmax(-1)
    p, tokens = p.sort(-1, descending=True)
    rank = torch.arange(p.shape[-1])
    if top_k is not None:
        p = p * (rank < top_k)
        p = p / p.sum(-1, keepdim=True)
    if top_p is not None:
        p = p * (p.cumsum(-1) - p < top_p)
        p = p / p.sum(-1, keepdim=True)
    u = torch.rand(p.shape[:-1], generator=generator, dtype=p.dtype)
    place = (p.cumsum(-1) <= u[..., None]).sum(-1, keepdim=True)
    place = place.clamp(max=int(p.shape[-1]) - 1)
    return tokens.gather(-1, place).squeeze(-1)


@exercise.also_right
def with_gumbel_noise(logits, temperature=1.0, top_k=None, top_p=None, *, generator=None):
    """The largest of the logits plus noise is a draw from their softmax."""
    if not temperature >= 0 or (top_k or 1) < 1 or top_k == 0:
        raise ValueError("no such setting")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError("no such top_p")
    if not temperature:
        return torch.argmax(logits, -1)
    scores = logits.double() / temperature
    ranks = scores.argsort(-1, descending=True).argsort(-1)
    if top_k is not None:
        scores = scores.where(ranks < top_k, torch.tensor(-torch.inf, dtype=scores.dtype))
    if top_p is not None:
        p = scores.softmax(-1)
        likelier = p[..., None, :] * (ranks[..., None, :] < ranks[..., None])  # (..., V, V)
        scores = scores.masked_fill(likelier.sum(-1) >= top_p, -torch.inf)
    u = torch.rand(scores.shape, generator=generator, dtype=scores.dtype).clamp(min=1e-300)
    return (scores - (-u.log()).log()).argmax(-1)


@exercise.also_right
def row_by_row(logits, temperature=1.0, top_k=None, top_p=None, *, generator=None):
    """One row at a time, with a Python loop over the kept tokens."""
    if temperature < 0:
        raise ValueError(f"temperature {temperature}")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k {top_k}")
    if top_p is not None and (top_p > 1 or top_p <= 0):
        raise ValueError(f"top_p {top_p}")
    rows = logits.reshape(-1, logits.shape[-1])
    out = torch.empty(len(rows), dtype=torch.long)
    for i, row in enumerate(rows):
        order = row.argsort(descending=True)
        if temperature == 0:
            out[i] = order[0]
            continue
        p = torch.softmax(row[order] / temperature, 0)
        if top_k is not None:
            p = p[:top_k]
        p = p / p.sum()
        if top_p is not None:
            n, total = 0, 0.0
            for share in p.tolist():
                if n and total >= top_p:
                    break
                n, total = n + 1, total + share
            p = p[:n]
        out[i] = order[torch.multinomial(p, 1, generator=generator)[0]]
    return out.reshape(logits.shape[:-1])
