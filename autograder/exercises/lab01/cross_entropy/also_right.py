"""Other right versions of cross_entropy."""

from __future__ import annotations

import torch

from . import exercise


@exercise.also_right
def step_by_step(logits, target, ignore_index=None, reduction="mean"):
    counts = torch.ones_like(target).bool() if ignore_index is None else target != ignore_index
    column = target * counts
    shifted = logits - logits.amax(-1, keepdim=True)
    log_p = shifted - shifted.exp().sum(-1, keepdim=True).log()  # (N, V)
    losses = -log_p[torch.arange(len(target)), column]  # (N,)
    losses = torch.where(counts, losses, 0.0)
    if reduction == "none":
        return losses
    total = losses.sum()
    if reduction == "sum":
        return total
    return total / counts.sum().clamp(min=1)


@exercise.also_right
def by_one_hot(logits, target, ignore_index=None, reduction="mean"):
    V = logits.size(-1)
    keep = torch.ones(len(target), dtype=logits.dtype)
    if ignore_index is not None:
        keep = (target != ignore_index).to(logits.dtype)
    one_hot = (target[:, None] == torch.arange(V)).to(logits.dtype)
    m = logits.max(dim=-1, keepdim=True).values
    log_p = logits - m - torch.log(torch.exp(logits - m).sum(-1, keepdim=True))
    losses = -torch.einsum("nv,nv->n", one_hot, log_p) * keep
    if reduction == "none":
        return losses
    if reduction == "sum":
        return losses.sum()
    return losses.sum() / max(keep.sum(), 1)


@exercise.also_right
def row_by_row(logits, target, ignore_index=None, reduction="mean"):
    losses, n = [], 0
    for row, column in zip(logits, target.tolist(), strict=True):
        if column == ignore_index:
            losses.append(row.sum() * 0)
            continue
        n += 1
        below = row - row.max()
        losses.append(torch.logsumexp(below, 0) - below[column])
    if reduction == "none":
        return torch.stack(losses)
    total = sum(losses)
    if reduction == "sum":
        return total
    return total / max(n, 1)


@exercise.also_right
def rows_chosen_first(logits, target, ignore_index=None, reduction="mean"):
    rows = torch.arange(len(target))
    if ignore_index is not None:
        rows = rows[target != ignore_index]
    chosen = logits[rows]
    shifted = chosen - chosen.amax(-1, keepdim=True)
    log_p = shifted - shifted.exp().sum(-1, keepdim=True).log()
    losses = -log_p.gather(1, target[rows].unsqueeze(1)).squeeze(1)
    if reduction == "none":
        return torch.zeros(len(target), dtype=logits.dtype).index_put((rows,), losses)
    if reduction == "sum":
        return losses.sum()
    return losses.mean() if len(rows) else logits.sum() * 0
