"""Buckets: every sentence once, little padding, another order with another seed; parts of them."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch

from attnlab.buckets import Bucketed, bucket_batches, padding_share, share
from attnlab.data import dates
from attnlab.seq2seq import pad_batch

LENGTHS = [len(pair.human) for pair in dates.pairs(1500, seed=3)]


@pytest.mark.parametrize("seed", [0, 7, 1 << 31])
def test_every_sentence_is_in_exactly_one_batch_within_the_limit(seed: int) -> None:
    batches = bucket_batches(LENGTHS, 512, seed)
    assert sorted(index for batch in batches for index in batch) == list(range(len(LENGTHS)))
    assert all(len(batch) * max(LENGTHS[i] for i in batch) <= 512 for batch in batches)


def test_padding_before_and_after() -> None:
    order = torch.randperm(len(LENGTHS), generator=torch.Generator().manual_seed(1)).tolist()
    plain = [order[start : start + 16] for start in range(0, len(order), 16)]
    assert padding_share(LENGTHS, plain) > 0.3
    assert padding_share(LENGTHS, bucket_batches(LENGTHS, 512, 0)) < 0.05


def test_a_seed_decides_the_order_and_who_is_together() -> None:
    first, again, other = (bucket_batches(LENGTHS, 512, seed) for seed in (1, 1, 2))
    assert first == again
    assert {frozenset(batch) for batch in first} != {frozenset(batch) for batch in other}
    sizes = [max(LENGTHS[i] for i in batch) for batch in first]
    rises = sum(later > earlier for earlier, later in pairwise(sizes))
    assert 0.25 < rises / len(sizes) < 0.75  # neither short ones first nor long ones first


def test_the_global_random_state_stays() -> None:
    before = torch.get_rng_state()
    bucket_batches(LENGTHS, 512, 1)
    assert torch.equal(before, torch.get_rng_state())


def test_limits_of_a_batch() -> None:
    assert bucket_batches([], 5, 0) == []
    # Sorted, 1 2 2 5 5: a third sentence of 2 would make 6 tokens.
    assert sorted(map(len, bucket_batches([5, 5, 2, 2, 1], 5, 0))) == [1, 1, 1, 2]
    assert len(bucket_batches([4, 4], 8, 0)) == 1
    assert len(bucket_batches([4, 4], 7, 0)) == 2
    assert sorted(map(len, bucket_batches([5] * 23, 40, 0))) == [7, 8, 8]
    with pytest.raises(ValueError, match="has 9 tokens, and a batch at most 8"):
        bucket_batches([3, 9], 8, 0)


def data(seed: int = 0) -> Bucketed[dates.Batch]:
    pairs = dates.pairs(100, seed=3)
    lengths = [len(pair.human) for pair in pairs]
    return Bucketed(pairs, lengths, lambda some: dates.batch_of(some, pad_batch), 200, seed)


def rows(batches) -> list[list[int]]:
    return [row for batch in batches for row in batch.source.tolist()]


def test_epochs_differ_and_can_start_in_the_middle() -> None:
    first = list(data().epoch(0))
    assert rows(first) == rows(data().epoch(0)) != rows(data().epoch(1))
    assert rows(data(seed=1).epoch(0)) != rows(first)
    assert rows(first[3:]) == rows(data().epoch(0, start=3))
    assert sum(len(batch.source) for batch in first) == 100


def test_parts_have_every_row_once() -> None:
    batch = next(data().epoch(0))
    parts = [share(batch, part, 3) for part in range(3)]
    assert isinstance(parts[0], dates.Batch)
    assert sorted(rows(parts)) == sorted(rows([batch]))
    assert [len(part.source_mask) for part in parts] == [len(part.target) for part in parts]
    one = dates.Batch(*(tensor[:1] for tensor in batch))
    assert [len(share(one, part, 2).source) for part in range(2)] == [1, 0]
