"""Other right versions of attend."""

from __future__ import annotations

import torch

from . import exercise


@exercise.also_right
def lowest_then_zero(scores, hidden, mask=None):
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    filled = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = filled.softmax(-1).masked_fill(~mask, 0.0)
    context = torch.einsum("bt,bth->bh", weights, hidden)
    return context, weights


@exercise.also_right(about="multiplies by bmm, whose last digits are others")
def by_bmm(scores, hidden, mask=None):
    if mask is not None:
        scores = scores.masked_fill(mask == 0, torch.finfo(scores.dtype).min)
    weights = torch.nn.functional.softmax(scores, dim=1)
    if mask is not None:
        weights = weights * mask
    return torch.bmm(weights.unsqueeze(1), hidden).squeeze(1), weights


@exercise.also_right(about="divides exponentials by their sum")
def exponentials_masked(scores, hidden, mask=None):
    if mask is None:
        mask = scores == scores
    top = torch.where(mask, scores, torch.finfo(scores.dtype).min).amax(1, keepdim=True)
    exp = torch.where(mask, scores - top, 0.0).exp() * mask
    weights = exp / torch.where(mask.any(1, keepdim=True), exp.sum(1, keepdim=True), 1.0)
    return (weights.unsqueeze(-1) * hidden).sum(dim=1), weights


@exercise.also_right(about="reads only the tokens of each sentence")
def sentence_by_sentence(scores, hidden, mask=None):
    contexts, rows = [], []
    for b in range(len(scores)):
        real = torch.arange(scores.shape[1]) if mask is None else mask[b].nonzero()[:, 0]
        weights = torch.zeros_like(scores[b]).index_add(0, real, torch.softmax(scores[b, real], 0))
        contexts.append(weights @ hidden[b])
        rows.append(weights)
    return torch.stack(contexts), torch.stack(rows)


@exercise.also_right(about="fills with -inf where a token is left")
def minus_infinity_where_safe(scores, hidden, mask=None):
    if mask is not None:
        empty = ~mask.any(dim=1, keepdim=True)
        scores = scores.masked_fill(~(mask | empty), float("-inf"))
    alpha = torch.softmax(scores, dim=-1)
    if mask is not None:
        alpha = alpha.masked_fill(empty, 0.0)
    return torch.matmul(alpha.unsqueeze(-2), hidden).squeeze(-2), alpha


@exercise.also_right(about="replaces NaN by 0 after the softmax")
def nan_replaced(scores, hidden, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = scores.softmax(-1).nan_to_num()
    return torch.einsum("bt,bth->bh", weights, hidden), weights
