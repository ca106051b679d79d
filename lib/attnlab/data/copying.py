"""Copy and reverse: a model must write a sequence of symbols again, unchanged or in reverse order.

A model must learn only where to look. So if it fails, there is a fault in its attention, its masks
or its positions. The sequence itself decides whether it belongs to the train, validation or test
split, so two splits never share a sequence, whatever their seeds.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Sequence
from typing import NamedTuple

from torch import Tensor

from attnlab.data.dates import BOS, EOS, PAD, Batch

SYMBOLS = 20  # numbered from 3 on, after PAD, BOS and EOS
VOCABULARY = 3 + SYMBOLS
TASKS = ("copy", "reverse")

_SPLITS = ("test", "validation", "train")
_SHARES = {"test": 0.1, "validation": 0.1, "train": 0.8}


class Pair(NamedTuple):
    """A sequence and its copy or reverse: symbols from 3 on, without BOS and EOS."""

    source: tuple[int, ...]
    target: tuple[int, ...]


def pairs(
    count: int,
    seed: int,
    split: str = "train",
    task: str = "copy",
    shortest: int = 4,
    longest: int = 12,
) -> list[Pair]:
    """`count` different pairs of one split.

    Args:
        count: the number of pairs.
        seed: equal seeds make equal pairs, on every machine.
        split: "train", "validation" or "test". No source sequence occurs in two of them.
        task: "copy" or "reverse"; the sources are the same for both.
        shortest: symbols in the shortest source; 4 or more, so there are enough of them.
        longest: symbols in the longest source.

    Raises:
        ValueError: `split`, `task` or the lengths are not among the allowed values; or the split
            does not have `count` pairs of these lengths, or so few more that drawing them takes
            long.
    """
    if split not in _SPLITS:
        raise ValueError(f"no split {split!r}; there are {', '.join(_SPLITS)}")
    if task not in TASKS:
        raise ValueError(f"no task {task!r}; there are {', '.join(TASKS)}")
    if not 4 <= shortest <= longest:
        raise ValueError(f"lengths from {shortest} to {longest}: give 4 or more, shortest first")
    exist = sum(SYMBOLS**length for length in range(shortest, longest + 1))
    most = int(exist * _SHARES[split] / 2)  # beyond, most draws are repeated
    if count > most:
        raise ValueError(f"{count} pairs of {split!r}; of these lengths, it has {most} at most")
    rng = random.Random(seed)  # noqa: S311 - not for secrets
    found: dict[tuple[int, ...], None] = {}
    while len(found) < count:
        length = shortest + int(rng.random() * (longest - shortest + 1))
        source = tuple(3 + int(rng.random() * SYMBOLS) for _ in range(length))
        if split_of(source) == split:
            found[source] = None
    return [Pair(source, source if task == "copy" else source[::-1]) for source in found]


def split_of(source: Sequence[int]) -> str:
    """The split that a source belongs to: one in ten is "test", one in ten "validation"."""
    return _SPLITS[min(zlib.crc32(bytes(source)) % 10, 2)]


def batch_of(
    some: Sequence[Pair], pad_batch: Callable[..., tuple[Tensor, Tensor, Tensor]]
) -> Batch:
    """Pairs as one batch, padded by the function `pad_batch`; targets run from BOS to EOS."""
    source, _, source_mask = pad_batch([list(pair.source) for pair in some], PAD)
    target, _, target_mask = pad_batch([[BOS, *pair.target, EOS] for pair in some], PAD)
    return Batch(source, source_mask, target, target_mask)
