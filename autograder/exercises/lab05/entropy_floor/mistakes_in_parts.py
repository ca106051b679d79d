"""A wrong `evaluate` that asks the model for a part of the sequences at a time."""

from __future__ import annotations

import torch

from attnlab.evaluation import next_token_loss

from . import exercise


@exercise.mistake(
    "Your `evaluate` calls the model several times, on parts of the sequences, and averages their "
    "losses. The last part may be smaller. How often does the task call the model?",
    of="evaluate",
)
def in_parts(model, ids, mask, loss=next_token_loss):
    before = model.training
    model.eval()
    with torch.no_grad():
        losses = [float(loss(model(part, mask), part)) for part in ids.split(64)]
    model.train(before)
    return sum(losses) / len(losses)
