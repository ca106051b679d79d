"""Other right versions of the teacher-forced loss."""

from __future__ import annotations

import math  # noqa: F401 - a mistake made from these versions divides by a logarithm

import torch
from torch import nn

from attnlab.data.dates import EOS, PAD  # noqa: F401 - mistakes made from these versions name EOS
from attnlab.softmax import cross_entropy

from . import exercise


@exercise.also_right
def step_by_step(model, batch):
    inputs, labels = batch.target[:, :-1], batch.target[:, 1:]
    hidden, state = model.encode(batch.source, batch.source_mask)
    steps = []
    for y_prev in inputs.unbind(1):
        logits, state, _ = model.cell(y_prev, state, hidden, batch.source_mask)
        steps.append(logits)
    logits = torch.stack(steps, 1)  # (B, T - 1, V)
    return cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD)


def logits_of(model, batch, inputs):
    """The logits (B, steps, V) when the columns of `inputs` are fed."""
    hidden, state = model.encode(batch.source, batch.source_mask)
    steps = []
    for y_prev in inputs.unbind(1):
        logits, state, _ = model.cell(y_prev, state, hidden, batch.source_mask)
        steps.append(logits)
    return torch.stack(steps, 1)


@exercise.also_right
def by_mask(model, batch):
    hidden, state = model.encode(batch.source, batch.source_mask)
    total, count = 0.0, 0
    for t in range(1, batch.target.size(1)):
        logits, state, _ = model.cell(batch.target[:, t - 1], state, hidden, batch.source_mask)
        log_p = torch.log_softmax(logits, dim=-1)
        picked = log_p.gather(1, batch.target[:, t : t + 1]).squeeze(1)
        total = total - (picked * batch.target_mask[:, t]).sum()
        count = count + batch.target_mask[:, t].sum()
    return total / count


@exercise.also_right
def all_columns_fed(model, batch):
    steps = logits_of(model, batch, batch.target)
    return nn.functional.cross_entropy(
        steps[:, :-1].permute(0, 2, 1), batch.target[:, 1:], ignore_index=PAD
    )


@exercise.also_right
def by_selection(model, batch):
    labels, real = batch.target[:, 1:], batch.target_mask[:, 1:]
    logits = logits_of(model, batch, batch.target[:, :-1])
    return cross_entropy(logits[real], labels[real])
