"""Other right ways to make batches, a loss and scores, and a file of weights of a wrapped model."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from attnlab.bert_training import (
    SPECIAL_IDS,
    PretrainingBatch,
    PretrainingLoss,
    PretrainingScores,
)
from attnlab.data.topics import MASK, PAD, VOCABULARY
from attnlab.pretraining import make_nsp, mask_tokens

from . import exercise, reference_weights


@exercise.also_right(of="pretraining_batches")
def slices(documents, size, generator):
    ids, segments, follows = make_nsp(documents, generator)
    special = torch.tensor([0, 1, 2, 3])
    seen, labels = mask_tokens(ids, special, len(VOCABULARY), MASK, generator=generator)
    batches = []
    for start in range(0, len(ids), size):
        rows = slice(start, start + size)
        batches.append(
            PretrainingBatch(
                seen[rows], segments[rows], ids[rows] != PAD, labels[rows], follows[rows]
            )
        )
    return batches


@exercise.also_right(of="pretraining_batches")
def hidden_batch_by_batch(documents, size, generator):
    pairs = make_nsp(documents, generator)
    made = []
    for ids, segments, follows in zip(*(part.split(size) for part in pairs), strict=True):
        x, labels = mask_tokens(
            ids, torch.tensor(SPECIAL_IDS), len(VOCABULARY), MASK, 0.15, generator=generator
        )
        made.append(PretrainingBatch(x, segments, x != PAD, labels, follows))
    return made


@exercise.also_right(of="pretraining_loss")
def by_torch(model, batch):
    _, mlm_logits, nsp_logits = model(batch.ids, batch.segments, batch.valid)
    mlm = F.cross_entropy(mlm_logits.transpose(1, 2), batch.labels, reduction="sum")
    chosen = (batch.labels != -100).sum().clamp(min=1)
    return PretrainingLoss(mlm / chosen, F.cross_entropy(nsp_logits, batch.follows))


@exercise.also_right(of="pretraining_loss")
def picked(model, batch):
    out = model(batch.ids, batch.segments, batch.valid)
    log_p = out.mlm_logits.log_softmax(-1)
    chosen = batch.labels >= 0
    found = log_p.gather(-1, batch.labels.clamp(min=0)[..., None])[..., 0]
    mlm = -(found * chosen).sum() / chosen.sum().clamp(min=1)
    pairs = out.nsp_logits.log_softmax(-1)
    nsp = -pairs[torch.arange(len(pairs)), batch.follows].mean()
    return PretrainingLoss(mlm, nsp)


@exercise.also_right(of="pretraining_scores")
def added_up(model, batches):
    was = model.training
    model.eval()
    loss = places = right = pairs = 0
    for batch in batches:
        with torch.no_grad():
            out = model(batch.ids, batch.segments, batch.valid)
        at = batch.ids == MASK
        loss += F.cross_entropy(out.mlm_logits[at], batch.labels[at], reduction="sum").item()
        places += int(at.sum())
        right += int((out.nsp_logits.argmax(1) == batch.follows).sum())
        pairs += len(batch.follows)
    model.train(was)
    return PretrainingScores(loss / places, right / pairs)


@exercise.also_right(of="pretraining_scores")
@torch.no_grad()
def labels_elsewhere_ignored(model, batches):
    mode = model.training
    model.train(False)
    sums = torch.zeros(4)
    for batch in batches:
        out = model(batch.ids, batch.segments, valid=batch.valid)
        labels = batch.labels.masked_fill(batch.ids != MASK, -100)
        each = F.cross_entropy(out.mlm_logits.flatten(0, 1), labels.flatten(), reduction="none")
        says = out.nsp_logits[:, 1] > out.nsp_logits[:, 0]
        agree = says == batch.follows.bool()
        sums += torch.stack(
            [each.sum(), (labels >= 0).sum(), agree.sum(), torch.tensor(len(agree))]
        )
    model.train(mode)
    return PretrainingScores(float(sums[0] / sums[1]), float(sums[2] / sums[3]))


@exercise.also_right(of="bert.safetensors")
def of_a_wrapped_model():
    return {f"module.{name}": tensor for name, tensor in reference_weights().items()}
