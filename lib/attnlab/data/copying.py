"""Copy and reverse: sequences of symbols to be written again, as they are or back to front.

Nothing is to be learnt here but where to look, so a model that cannot do it has a fault in its
attention, its masks or its positions. Which sequences belong to the train, validation and test
split is fixed by the sequence itself, so no two splits share one, whatever seeds they are made
from.
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


class Pair(NamedTuple):
    """A sequence and what is to be made of it: symbols from 3 on, without BOS and EOS."""

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
        count: how many.
        seed: equal seeds make equal pairs, on every machine.
        split: "train", "validation" or "test". No source sequence occurs in two of them.
        task: "copy" or "reverse"; the sources are the same for both.
        shortest: symbols in the shortest source; 4 or more, so that there are enough of them.
        longest: symbols in the longest.

    Raises:
        ValueError: there is no such split or no such task, or the lengths make no sense.
    """
    if split not in _SPLITS:
        raise ValueError(f"no split {split!r}; there are {', '.join(_SPLITS)}")
    if task not in TASKS:
        raise ValueError(f"no task {task!r}; there are {', '.join(TASKS)}")
    if not 4 <= shortest <= longest:
        raise ValueError(f"lengths from {shortest} to {longest}: 4 or more, shortest first")
    rng = random.Random(seed)  # noqa: S311 - symbols, no secrets
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
    """Pairs as one batch, filled up by the function `pad_batch`; targets from BOS to EOS."""
    source, _, source_mask = pad_batch([list(pair.source) for pair in some], PAD)
    target, _, target_mask = pad_batch([[BOS, *pair.target, EOS] for pair in some], PAD)
    return Batch(source, source_mask, target, target_mask)
