"""Pairs of sequences as one batch: what the encoder reads, what the decoder reads, and its labels.

PAD, BOS and EOS are the same numbers for all data: 0, 1 and 2; symbols are 3 or more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from attnlab.data.dates import BOS, EOS, PAD
from attnlab.seq2seq import pad_batch


class Batch(NamedTuple):
    """Some pairs as tensors, for training an encoder and a decoder.

    Attributes:
        source: (B, S), int64, the symbols that the encoder reads, and then PAD.
        source_valid: (B, S), boolean, True where `source` has a symbol.
        inputs: (B, T), int64, the symbols that the decoder reads.
        labels: (B, T), int64, the symbols that the decoder must write, and then PAD.
    """

    source: Tensor
    source_valid: Tensor
    inputs: Tensor
    labels: Tensor


def shift_right(target: Tensor, bos: int) -> Tensor:
    """What the decoder reads while it learns to write `target`: the same, one position later.

    Args:
        target: (B, T), int64: the symbols of each row, `eos` after them, then padding; no `bos`.
            Stays unchanged.
        bos: the symbol that starts every sentence.

    Returns:
        (B, T), int64: `bos`, then all entries of the row but the last.

    Source: Attention Is All You Need, section 3.1; lectures G, C, N (teacher forcing).
    """
    start = target.new_full((target.shape[0], 1), bos)  # (B, 1)
    return torch.cat((start, target[:, :-1]), 1)  # (B, T)


def make_batch(pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Batch:
    """Make one batch of pairs: a source, and the target that a model must write for it.

    Args:
        pairs: B pairs (source, target). Each of the two is a list or a tuple of symbols, numbers
            from 3 on, at least one; lengths differ. They contain no BOS, EOS or PAD, and stay
            unchanged.

    Returns:
        A `Batch`, with S the length of the longest source, and T that of the longest target and
        its EOS:
        source (B, S), int64: the symbols of each source, then PAD;
        source_valid (B, S), boolean: True where there is a symbol;
        inputs (B, T), int64: BOS, then the symbols of each target. What follows them does not
            matter, because the loss leaves these positions out;
        labels (B, T), int64: the symbols of each target, then EOS, then PAD.
    """
    source, _, source_valid = pad_batch([source for source, _ in pairs], PAD)
    labels, _, _ = pad_batch([[*target, EOS] for _, target in pairs], PAD)
    return Batch(source, source_valid, shift_right(labels, BOS), labels)
