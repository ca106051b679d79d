"""Other right versions of pad_batch; the mistakes are changes of them."""

from __future__ import annotations

import torch

from . import exercise


@exercise.also_right
def row_by_row(sequences, pad):
    lengths = torch.tensor([len(s) for s in sequences])
    width = max(len(s) for s in sequences)
    ids = torch.full((len(sequences), width), pad)
    for row, s in enumerate(sequences):
        ids[row, : len(s)] = torch.tensor(s)
    mask = torch.arange(width) < lengths[:, None]
    return ids, lengths, mask


@exercise.also_right
def by_pad_sequence(sequences, pad):
    tensors = [torch.tensor(s, dtype=torch.long) for s in sequences]
    ids = torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True, padding_value=pad)
    lengths = torch.tensor([t.numel() for t in tensors])
    return ids, lengths, torch.arange(ids.size(1))[None, :] < lengths[:, None]


@exercise.also_right
def by_lists(sequences, pad):
    width = max(len(s) for s in sequences)
    ids = [[*s, *[pad] * (width - len(s))] for s in sequences]
    mask = [[True] * len(s) + [False] * (width - len(s)) for s in sequences]
    return (
        torch.tensor(ids, dtype=torch.long),
        torch.LongTensor([len(s) for s in sequences]),
        torch.tensor(mask, dtype=torch.bool),
    )


@exercise.also_right
def place_by_place(sequences, pad):
    lengths = torch.tensor([len(s) for s in sequences])
    ids = torch.full((len(sequences), lengths.max().item()), pad, dtype=torch.long)
    mask = torch.zeros_like(ids).bool()
    for b, sequence in enumerate(sequences):
        for t, token in enumerate(sequence):
            ids[b, t] = token
            mask[b, t] = True
    return ids, lengths, mask
