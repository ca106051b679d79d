"""Other right training loops, and a file of weights with another layout."""

from __future__ import annotations

import torch
from torch import nn

from attnlab.seq2seq import teacher_forced_loss

from . import SAVED, exercise, reference_weights


@exercise.also_right
def batch_by_batch(model, batches, optimizer, max_norm=1.0, scheduler=None):
    losses = []
    model.train()
    for batch in batches:
        optimizer.zero_grad()
        loss = teacher_forced_loss(model, batch)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
        if scheduler is not None:
            scheduler.step()
        losses.append(loss.item())
    return losses


@exercise.also_right(of=SAVED)
def score_in_two_parts():
    weights = reference_weights()
    W = weights.pop("cell.score.W.weight")
    a = weights.pop("cell.score.a.weight")
    return {
        **weights,
        "cell.score.W_s.weight": W[:, :64].contiguous(),
        "cell.score.W_h.weight": W[:, 64:].contiguous(),
        "cell.score.a": a[0].double(),
    }


@exercise.also_right
def by_enumerating(model, batches, optimizer, max_norm=1.0, scheduler=None):
    model.train()
    history = []
    for number, batch in enumerate(batches):
        loss = teacher_forced_loss(model, batch)
        for parameter in model.parameters():
            parameter.grad = None
        loss.backward()
        nn.utils.clip_grad_norm_(list(model.parameters()), max_norm=max_norm, norm_type=2)
        optimizer.step()
        if scheduler:
            scheduler.step()
        assert number == len(history)
        history.append(float(loss.detach()))
    model.eval()
    return history


@exercise.also_right
def clipped_by_hand(model, batches, optimizer, max_norm=1.0, scheduler=None):
    history = []
    for batch in batches:
        model.train()
        model.zero_grad()
        loss = teacher_forced_loss(model, batch)
        history.append(loss.item())
        loss.backward()
        grads = [p.grad for p in model.parameters() if p.grad is not None]
        norm = torch.sqrt(sum((g * g).sum() for g in grads))
        for grad in grads:
            grad.mul_(min(1.0, max_norm / norm.item()))
        optimizer.step()
        optimizer.zero_grad()
        if scheduler is not None:
            scheduler.step()
    return history
