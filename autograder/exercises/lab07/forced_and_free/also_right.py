"""Other right versions of `accuracy` and `forced_and_free`; the mistakes edit the first of each."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from attnlab.data.dates import BOS, EOS, PAD
from attnlab.decoding import greedy_decode
from attnlab.evaluation import Accuracy, accuracy

from . import exercise


@exercise.also_right(of="accuracy")
def padded_to_fit(written, labels):
    B, T = labels.shape
    fitted = torch.full((B, T), PAD)
    width = min(T, written.shape[1])
    fitted[:, :width] = written[:, :width]
    counts = labels != PAD
    right = (fitted == labels) & counts
    exact = (right.sum(1) == counts.sum(1)).double().mean()
    symbols = right.sum() / counts.sum()
    return Accuracy(exact.item(), symbols.item())


@exercise.also_right(of="accuracy")
def row_by_row(written, labels):
    whole, right, total = 0, 0, 0
    for ours, wanted in zip(written.tolist(), labels.tolist(), strict=True):
        wanted = [symbol for symbol in wanted if symbol != PAD]
        hits = sum(a == b for a, b in zip(ours, wanted, strict=False))
        whole += hits == len(wanted)
        right, total = right + hits, total + len(wanted)
    return Accuracy(exact=whole / len(labels), symbols=right / total)


@exercise.also_right(of="accuracy")
def padding_always_right(written, labels):
    T = labels.size(1)
    written = F.pad(written, (0, max(0, T - written.size(1))), value=PAD)[:, :T]
    pads = labels.eq(PAD)
    same = written.eq(labels) | pads
    exact = same.all(dim=-1).float().mean()
    return Accuracy(float(exact), float(same[~pads].float().mean()))


@exercise.also_right(of="forced_and_free")
def one_after_the_other(model, batch):
    training = model.training
    model.eval()
    with torch.no_grad():
        logits = model(batch.source, batch.source_valid, batch.inputs)
        forced = logits.argmax(-1)
        free = greedy_decode(model, batch.source, batch.source_valid, BOS, EOS, PAD)
    model.train(training)
    return accuracy(forced, batch.labels), accuracy(free, batch.labels)


@exercise.also_right(of="forced_and_free")
@torch.inference_mode()
def halves_of_the_model(model, batch):
    source, valid, inputs, labels = batch
    mode = model.training
    model.train(False)
    try:
        memory = model.encode(source, valid)
        forced = model.decode(inputs, memory, valid).softmax(-1).max(-1).indices
        free = greedy_decode(model, source, valid, bos=BOS, eos=EOS, pad=PAD, max_extra=50)
    finally:
        model.train(mode)
    return tuple(accuracy(rows, labels) for rows in (forced, free))
