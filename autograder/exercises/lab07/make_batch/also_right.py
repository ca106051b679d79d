"""Other right versions of `shift_right` and `make_batch`; the mistakes edit the first of each."""

from __future__ import annotations

import torch

from attnlab.batching import Batch, shift_right
from attnlab.data.dates import BOS, EOS, PAD
from attnlab.seq2seq import pad_batch

from . import exercise


@exercise.also_right(of="shift_right")
def new_table(target, bos):
    shifted = torch.zeros_like(target)
    shifted[:, 1:] = target[:, :-1]
    shifted[:, 0] = bos
    return shifted


@exercise.also_right(of="shift_right")
def rolled(target, bos):
    inputs = target.roll(1, dims=1)
    inputs[:, 0] = bos
    return inputs


@exercise.also_right(of="shift_right")
def padded_in_front(target, bos):
    return torch.nn.functional.pad(target, (1, 0), value=bos)[:, :-1]


@exercise.also_right(of="shift_right")
def by_rows(target, bos):
    return torch.tensor([[bos, *row[:-1]] for row in target.tolist()])


@exercise.also_right(of="make_batch")
def by_hand(pairs):
    S = max(len(source) for source, _ in pairs)
    T = max(len(target) for _, target in pairs) + 1
    source = torch.full((len(pairs), S), PAD)
    inputs = torch.full((len(pairs), T), PAD)
    labels = torch.full((len(pairs), T), PAD)
    for row, (read, write) in enumerate(pairs):
        source[row, : len(read)] = torch.tensor(read)
        inputs[row, : len(write) + 1] = torch.tensor([BOS, *write])
        labels[row, : len(write) + 1] = torch.tensor([*write, EOS])
    return Batch(source, source != PAD, inputs, labels)


@exercise.also_right(of="make_batch")
def cut_from_one_table(pairs):
    sources, targets = zip(*pairs, strict=True)
    source, lengths, _ = pad_batch(sources, PAD)
    both, _, _ = pad_batch([[BOS, *target, EOS] for target in targets], PAD)
    valid = torch.arange(source.size(1))[None] < lengths[:, None]
    return Batch(source, valid, inputs=both[:, :-1], labels=both[:, 1:])


@exercise.also_right(of="make_batch")
def padded_lists(pairs):
    def padded(rows):
        longest = max(map(len, rows))
        return torch.tensor([list(row) + [PAD] * (longest - len(row)) for row in rows])

    source = padded([source for source, _ in pairs])
    labels = padded([[*target, EOS] for _, target in pairs])
    inputs = labels.roll(1, dims=-1)
    inputs[:, 0] = BOS
    return Batch(source=source, source_valid=source.ne(PAD), inputs=inputs, labels=labels)


@exercise.also_right(of="make_batch")
def torchs_padding(pairs):
    pad = torch.nn.utils.rnn.pad_sequence
    source = pad([torch.tensor(s) for s, _ in pairs], batch_first=True, padding_value=PAD)
    labels = pad([torch.tensor([*t, EOS]) for _, t in pairs], True, PAD)
    return Batch(source, source > 0, shift_right(labels, BOS), labels)
