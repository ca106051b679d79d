"""Batches for an encoder and a decoder: padding, BOS in front, EOS in the labels."""

from __future__ import annotations

import torch

from attnlab.batching import make_batch, shift_right
from attnlab.data import copying
from attnlab.data.dates import BOS, EOS, PAD


def test_shift_right_puts_bos_first_and_drops_the_last_symbol() -> None:
    target = torch.tensor([[5, 6, EOS], [7, EOS, PAD]])
    before = target.clone()
    assert shift_right(target, BOS).tolist() == [[BOS, 5, 6], [BOS, 7, EOS]]
    assert torch.equal(target, before)
    assert shift_right(target[:, :1], 9).tolist() == [[9], [9]]
    assert shift_right(target[:0], BOS).shape == (0, 3)


def test_a_batch_of_two_pairs() -> None:
    pairs = [([5, 6, 7], [8]), ((9,), (3, 4))]
    batch = make_batch(pairs)
    assert batch.source.tolist() == [[5, 6, 7], [9, PAD, PAD]]
    assert batch.source_valid.tolist() == [[True, True, True], [True, False, False]]
    assert batch.inputs.tolist() == [[BOS, 8, EOS], [BOS, 3, 4]]
    assert batch.labels.tolist() == [[8, EOS, PAD], [3, 4, EOS]]
    assert [tensor.dtype for tensor in batch] == [torch.int64, torch.bool, torch.int64, torch.int64]
    assert pairs == [([5, 6, 7], [8]), ((9,), (3, 4))]


def test_the_pairs_of_the_copying_task_make_a_batch() -> None:
    pairs = copying.pairs(20, seed=3)
    batch = make_batch(pairs)
    assert batch.source.shape == (20, max(len(pair.source) for pair in pairs))
    assert batch.labels.shape == (20, 1 + max(len(pair.target) for pair in pairs))
