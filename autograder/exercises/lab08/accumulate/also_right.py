"""Other right versions of `accumulate`; most mistakes edit the first."""

from __future__ import annotations

import torch

from attnlab.train_step import Sums

from . import exercise


@exercise.also_right
def divided_at_the_end(model, loss, micro_batches):
    model.zero_grad()
    total_loss, total_count = 0.0, 0
    for micro_batch in micro_batches:
        part, count = loss(model, micro_batch)
        part.backward()
        total_loss = total_loss + part.detach()
        total_count = total_count + count
    for p in model.parameters():
        if p.grad is not None:
            p.grad.div_(max(int(total_count), 1))
    return Sums(total_loss, total_count)


@exercise.also_right
def running_mean(model, loss, micro_batches):
    for p in model.parameters():
        p.grad = None
    losses, counts = torch.tensor(0.0, dtype=torch.float64), torch.tensor(0)
    for batch in micro_batches:
        found = loss(model, batch)
        before, counts = counts, counts + found.count
        for p in model.parameters():
            if p.grad is not None:
                p.grad *= before / counts.clamp(min=1)
        (found.loss / counts.clamp(min=1)).backward()
        losses += found.loss.detach()
    return Sums(loss=losses, count=counts)


@exercise.also_right
def as_in_nanogpt(model, loss, micro_batches):
    model.zero_grad(set_to_none=True)
    micro_batches = list(micro_batches)
    lossf, tokens = 0, 0
    for micro_step in range(len(micro_batches)):
        out = loss(model, micro_batches[micro_step])
        out.loss.backward()
        lossf += out.loss.detach()
        tokens += out.count.detach()
    scale = 1.0 / tokens if tokens > 0 else 0.0
    for param in model.parameters():
        if param.grad is not None:
            param.grad = param.grad * scale
    return Sums(lossf, tokens)


@exercise.also_right
def by_autograd_grad(model, loss, micro_batches):
    params = [p for p in model.parameters() if p.requires_grad]
    sums = [torch.zeros_like(p) for p in params]
    results = []
    for batch in micro_batches:
        found = loss(model, batch)
        grads = torch.autograd.grad(found.loss, params, allow_unused=True)
        sums = [s if g is None else s + g for s, g in zip(sums, grads, strict=True)]
        results.append((found.loss.detach(), found.count))
    n = sum(count for _, count in results)
    for p, s in zip(params, sums, strict=True):
        p.grad = s / n.clamp(min=1)
    return Sums(sum(value for value, _ in results), n)


@exercise.also_right
def zeros_first(model, loss, micro_batches):
    for p in model.parameters():
        if p.requires_grad:
            p.grad = torch.zeros_like(p)
    all_losses, all_counts = [], []
    for part in micro_batches:
        summed, count = loss(model, part)
        if count > 0:
            summed.backward()
        all_losses.append(summed.detach())
        all_counts.append(count)
    loss_sum, n = torch.stack(all_losses).sum(), torch.stack(all_counts).sum()
    if n > 0:
        for p in model.parameters():
            if p.requires_grad:
                p.grad /= n
    return Sums(loss_sum, n)
