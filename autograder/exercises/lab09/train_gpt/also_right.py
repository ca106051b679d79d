"""Other right versions: loops, window by window, and a file of weights from a wrapped model."""

from __future__ import annotations

import hashlib
import math

import torch
from torch.nn import functional as F

from attnlab.train_step import Sums

from . import exercise, reference_weights


@exercise.also_right(of="split_documents")
def one_by_one(documents, share):
    train, validation = [], []
    seen = set()
    for text in documents:
        if text in seen:
            continue
        seen.add(text)
        number = int.from_bytes(hashlib.sha256(text.encode("utf-8")).digest()[:4], "big")
        if number < share * 2**32:
            validation.append(text)
        else:
            train.append(text)
    return train, validation


@exercise.also_right(of="split_documents")
def by_hexadecimal(documents, share):
    unique = list(dict.fromkeys(documents))

    def held_out(text):
        return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / 2**32 < share

    return [t for t in unique if not held_out(t)], [t for t in unique if held_out(t)]


@exercise.also_right(of="lm_loss")
def by_transposing(model, batch):
    x, y = batch
    logits = model(x)
    loss = F.cross_entropy(logits.transpose(1, 2), y, reduction="sum")
    return Sums(loss, torch.tensor(y.numel()))


@exercise.also_right(of="lm_loss")
def by_gather(model, batch):
    log_p = model(batch[0]).log_softmax(-1)
    picked = log_p.gather(-1, batch[1].unsqueeze(-1))
    return Sums(loss=-picked.sum(), count=torch.ones_like(batch[1]).sum())


@exercise.also_right(of="text_loss")
def window_by_window(model, ids, context):
    was_training = model.training
    model.eval()
    total, count = 0.0, 0
    with torch.no_grad():
        for start in range(0, len(ids) - 1, context):
            window = ids[start : start + context + 1]
            x, y = window[:-1], window[1:]
            logits = model(x[None])[0]
            total += F.cross_entropy(logits, y, reduction="sum").item()
            count += len(y)
    model.train(was_training)
    return total / count


@exercise.also_right(of="text_loss")
@torch.no_grad()
def by_weighted_means(model, ids, context):
    mode, losses, lengths = model.training, [], []
    model.train(False)
    for x, y in zip(ids[:-1].split(context), ids[1:].split(context), strict=True):
        losses.append(F.cross_entropy(model(x.unsqueeze(0)).squeeze(0), y) * len(y))
        lengths.append(len(y))
    model.train(mode)
    return float(torch.stack(losses).sum()) / sum(lengths)


@exercise.also_right(of="bits_per_byte")
def through_the_total(nats_per_token, tokens, num_bytes):
    bits = tokens * nats_per_token * math.log2(math.e)
    return bits / num_bytes


@exercise.also_right(of="bits_per_byte")
def per_byte_first(nats_per_token, tokens, num_bytes):
    nats_per_byte = nats_per_token / (num_bytes / tokens)
    return nats_per_byte / math.log(2)


@exercise.also_right(of="markov_gpt.safetensors")
def of_a_wrapped_model():
    return {f"module.{name}": tensor for name, tensor in reference_weights("markov").items()}
