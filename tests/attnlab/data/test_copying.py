"""Copy and reverse: targets match their sources, splits do not overlap, bytes are fixed."""

from __future__ import annotations

import hashlib
from collections import Counter

import pytest
import torch
from torch import Tensor

from attnlab.data.copying import SYMBOLS, VOCABULARY, batch_of, pairs, split_of
from attnlab.data.dates import BOS, EOS, PAD
from attnlab.seq2seq import pad_batch

TASKS = {"copy": "7b1ec82c0027b147", "reverse": "e33cfc09a74e451e"}
SPLITS = ("train", "validation", "test")


@pytest.mark.parametrize("task", TASKS)
def test_the_pairs_are_the_same_on_every_machine(task: str) -> None:
    text = repr([tuple(pair) for pair in pairs(500, 3, "train", task)])
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == TASKS[task]


def test_targets_belong_to_their_sources() -> None:
    copied, turned = pairs(200, 0, task="copy"), pairs(200, 0, task="reverse")
    assert all(pair.source == pair.target for pair in copied)
    assert [pair.source for pair in copied] == [pair.source for pair in turned]
    assert all(list(pair.target) == [*reversed(pair.source)] for pair in turned)


def test_no_sequence_is_in_two_splits_whatever_the_seeds_and_tasks() -> None:
    seen = {
        split: {p.source for seed in range(3) for p in pairs(700, seed, split, shortest=4)}
        for split in SPLITS
    }
    assert not seen["train"] & seen["validation"]
    assert not seen["train"] & seen["test"]
    assert not seen["validation"] & seen["test"]
    assert {split_of(source) for source in seen["test"]} == {"test"}


def test_lengths_and_symbols_are_about_equally_frequent() -> None:
    some = pairs(4000, 1)
    lengths = Counter(len(pair.source) for pair in some)
    assert sorted(lengths) == list(range(4, 13))
    assert max(lengths.values()) < 1.25 * min(lengths.values())
    symbols = Counter(symbol for pair in some for symbol in pair.source)
    assert sorted(symbols) == list(range(3, VOCABULARY))
    assert len(symbols) == SYMBOLS
    assert max(symbols.values()) < 1.2 * min(symbols.values())


def test_other_lengths_are_possible() -> None:
    assert {len(pair.source) for pair in pairs(50, 0, shortest=20, longest=21)} == {20, 21}


def test_a_batch_is_padded_and_its_targets_have_ends() -> None:
    some = pairs(5, 2, task="reverse")
    batch = batch_of(some, pad_batch)
    for row, pair in enumerate(some):
        assert real(batch.source[row]) == [*pair.source]
        assert real(batch.target[row]) == [BOS, *pair.target, EOS]
    assert torch.equal(batch.source_mask, batch.source != PAD)
    assert torch.equal(batch.target_mask, batch.target != PAD)


def real(ids: Tensor) -> list[int]:
    return [number for number in ids.tolist() if number != PAD]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"split": "hidden"}, "no split 'hidden'"),
        ({"task": "sort"}, "no task 'sort'; there are copy, reverse"),
        ({"shortest": 2}, "4 or more"),
        ({"shortest": 9, "longest": 8}, "shortest first"),
        ({"count": 17_000, "split": "test", "shortest": 4, "longest": 4}, "8000 at most"),
    ],
)
def test_impossible_arguments_are_named(options: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        pairs(**{"count": 5, "seed": 0, **options})  # type: ignore[arg-type]
