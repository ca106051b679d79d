"""Other right versions of `safe_softmax`; the mistakes edit the first two."""

import math

import torch

from attnlab.masks import to_additive  # noqa: F401 - a mistake uses it

from . import exercise


@exercise.also_right
def filled_twice(scores, mask):
    low = -math.inf
    empty = ~mask.any(-1, keepdim=True)
    weights = torch.softmax(scores.masked_fill(~mask, low).masked_fill(empty, 0.0), -1)
    return weights.masked_fill(~mask, 0.0)


@exercise.also_right
def exponentials_by_their_sum(scores, mask):
    filled = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    top = filled.amax(-1, keepdim=True)
    exp = (filled - top).exp().masked_fill(~mask, 0.0)
    total = exp.sum(-1, keepdim=True)
    return exp / total.masked_fill(total == 0, 1.0)


@exercise.also_right
def two_wheres(scores, mask):
    live = mask.any(dim=-1, keepdim=True)
    filled = torch.where(mask, scores, -math.inf)
    filled = torch.where(live, filled, 0.0)
    return torch.where(live & mask, torch.softmax(filled, dim=-1), 0.0)


@exercise.also_right
def replaced_and_repaired(scores, mask):
    return torch.softmax(scores.masked_fill(~mask, -math.inf), dim=-1).nan_to_num(nan=0.0)


@exercise.also_right
def by_hand(scores, mask):
    low = torch.finfo(scores.dtype).min
    kept = torch.where(mask, scores, low)
    top = kept.amax(-1, keepdim=True).detach()
    exp = torch.exp(kept - top) * mask
    total = exp.sum(-1, keepdim=True)
    return exp / torch.where(total > 0, total, torch.ones_like(total))


@exercise.also_right
def unmasked_and_multiplied(scores, mask):
    empty = ~mask.any(-1, keepdim=True)
    clean = scores.masked_fill(~mask, 0.0).masked_fill(~(mask | empty), -math.inf)
    p = torch.nn.functional.softmax(clean, dim=-1)
    return p * mask.to(p.dtype)


@exercise.also_right
def row_by_row(scores, mask):
    masks = mask.expand(scores.shape).reshape(-1, scores.shape[-1])
    out = []
    for row, allowed in zip(scores.reshape(masks.shape), masks, strict=True):
        weights = torch.zeros_like(row)
        if allowed.any():
            weights = weights.masked_scatter(allowed, torch.softmax(row[allowed], 0))
        else:
            weights = weights + row.masked_fill(~allowed, 0.0) * 0.0
        out.append(weights)
    return torch.stack(out).reshape(scores.shape)


@exercise.also_right
def zeros_for_empty_rows(scores, mask):
    rows = []
    table = scores.reshape(-1, scores.shape[-1])
    for row, allowed in zip(table, mask.expand_as(scores).reshape(table.shape), strict=True):
        weights = torch.zeros_like(row)  # without a gradient, if there is no allowed key
        if allowed.any():
            weights = weights.masked_scatter(allowed, torch.softmax(row[allowed], 0))
        rows.append(weights)
    return torch.stack(rows).view_as(scores)
