"""Other right training loops, and a file of weights from a wrapped model."""

from __future__ import annotations

import torch
from torch import nn

from attnlab.seq2seq_training import sequence_loss

from . import exercise, reference_weights


@exercise.also_right(of="sequence_loss")
def by_torch(model, batch, pad=0):
    logits = model(batch.source, batch.source_valid, batch.inputs)
    return nn.functional.cross_entropy(
        logits.transpose(1, 2), batch.labels, ignore_index=pad, reduction="mean"
    )


@exercise.also_right(of="sequence_loss")
def picked(model, batch, pad=0):
    logits = model(batch.source, batch.source_valid, batch.inputs)
    log_p = logits.log_softmax(-1)
    asked = batch.labels != pad
    found = log_p.gather(-1, batch.labels[..., None])[..., 0]
    return -(found * asked).sum() / asked.sum()


@exercise.also_right(of="sequence_loss")
def rows_that_count(model, batch, pad=0):
    logits = model(batch.source, batch.source_valid, batch.inputs)
    asked = batch.labels != pad
    return nn.functional.nll_loss(logits[asked].log_softmax(-1), batch.labels[asked])


@exercise.also_right(of="train_transformer")
def batch_by_batch(model, batches, optimizer, scheduler, max_norm=1.0):
    losses = []
    model.train()
    for batch in batches:
        optimizer.zero_grad()
        loss = sequence_loss(model, batch)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
    model.eval()
    return losses


@exercise.also_right(of="train_transformer")
def by_enumerating(model, batches, optimizer, scheduler, max_norm=1.0):
    history = []
    for number, batch in enumerate(batches):
        model.train()
        loss = sequence_loss(model, batch)
        for parameter in model.parameters():
            parameter.grad = None
        loss.backward()
        nn.utils.clip_grad_norm_(list(model.parameters()), max_norm=max_norm, norm_type=2)
        optimizer.step()
        scheduler.step()
        assert number == len(history)
        history.append(float(loss.detach()))
    model.train(False)
    return history


@exercise.also_right(of="train_transformer")
def clipped_by_hand(model, batches, optimizer, scheduler, max_norm=1.0):
    model.train()
    history = []
    for batch in batches:
        model.zero_grad()
        loss = sequence_loss(model, batch)
        history.append(loss.item())
        loss.backward()
        grads = [p.grad for p in model.parameters() if p.grad is not None]
        norm = torch.sqrt(sum((g * g).sum() for g in grads))
        for grad in grads:
            grad.mul_(min(1.0, max_norm / norm.item()))
        optimizer.step()
        optimizer.zero_grad()
        scheduler.step()
    model.eval()
    return history


@exercise.also_right(of="copy.safetensors")
def of_a_wrapped_model():
    return {f"module.{name}": tensor for name, tensor in reference_weights("copy").items()}
