"""Fingerprints of a text: hashes of runs of symbols, of which winnowing keeps some.

Schleimer, Wilkerson, Aiken, "Winnowing: local algorithms for document fingerprinting" (2003): of
each `window` neighbouring runs the one with the smallest hash is kept. So any run of
``run + window - 1`` symbols that two texts share leaves at least one common fingerprint, and where
a text was moved to does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from gradekit.similarity.tokens import Symbol

_BASE = np.uint64(0x9E3779B97F4A7C15)  # odd, so that multiplying by it loses nothing


@dataclass(frozen=True)
class Winnowing:
    """How many of a text's fingerprints are kept, and how long each is.

    Attributes:
        run: symbols in a fingerprint.
        window: of so many neighbouring runs, one is kept.
        shortest: a text with fewer symbols has no fingerprint; one that is shorter than `run` has
            a single one.
    """

    run: int
    window: int
    shortest: int


CODE = Winnowing(run=10, window=4, shortest=6)
PROSE = Winnowing(run=4, window=3, shortest=4)


@dataclass(frozen=True)
class Fingerprint:
    """A run of symbols: its hash, and the characters of the text that it covers."""

    value: int
    start: int
    stop: int


def fingerprints(symbols: Sequence[Symbol], winnowing: Winnowing) -> list[Fingerprint]:
    """The fingerprints of a text, in its order."""
    if len(symbols) < winnowing.shortest:
        return []
    run = min(winnowing.run, len(symbols))
    hashes = _hashes([symbol.form for symbol in symbols], run)
    return [
        Fingerprint(
            int(hashes[position]), symbols[position].start, symbols[position + run - 1].stop
        )
        for position in _winnowed(hashes, winnowing.window)
    ]


def all_runs(symbols: Sequence[Symbol], winnowing: Winnowing) -> set[int]:
    """The hashes of all runs of a text, for taking it out of others."""
    if len(symbols) < winnowing.shortest:
        return set()
    forms = [symbol.form for symbol in symbols]
    return set(map(int, _hashes(forms, min(winnowing.run, len(forms)))))


def _hashes(forms: Sequence[str], run: int) -> NDArray[np.uint64]:
    """A hash of each run of `run` neighbouring symbols: a polynomial, modulo 2^64."""
    known: dict[str, int] = {}
    for form in forms:
        if form not in known:
            digest = blake2b(form.encode("utf-8", "surrogatepass"), digest_size=8).digest()
            known[form] = int.from_bytes(digest, "big")
    numbers = np.array([known[form] for form in forms], dtype=np.uint64)
    count = len(forms) - run + 1
    total = np.zeros(count, dtype=np.uint64)
    for position in range(run):
        total = total * _BASE + numbers[position : position + count]
    # The last multiplication mixes into the high bits; these decide which hash is the smallest.
    return (total ^ (total >> np.uint64(32))) * _BASE


def _winnowed(hashes: NDArray[np.uint64], window: int) -> list[int]:
    """The positions that winnowing keeps: of each window the smallest hash, the last of equals."""
    if len(hashes) <= window:
        return [_last_smallest(hashes)]
    windows = np.lib.stride_tricks.sliding_window_view(hashes, window)
    chosen = np.arange(len(windows)) + window - 1 - np.argmin(windows[:, ::-1], axis=1)
    return [int(position) for position in np.unique(chosen)]


def _last_smallest(hashes: NDArray[np.uint64]) -> int:
    return len(hashes) - 1 - int(np.argmin(hashes[::-1]))
