"""Winnowing: what two texts share is found, wherever it is in them."""

from __future__ import annotations

import random
from itertools import pairwise

from gradekit.similarity.fingerprints import Winnowing, all_runs, fingerprints
from gradekit.similarity.tokens import Symbol

WINNOWING = Winnowing(run=5, window=4, shortest=3)


def symbols(words: str) -> list[Symbol]:
    found, place = [], 0
    for word in words.split():
        found.append(Symbol(word, place, place + len(word)))
        place += len(word) + 1
    return found


def values(words: str) -> set[int]:
    return {one.value for one in fingerprints(symbols(words), WINNOWING)}


def test_a_common_run_of_run_plus_window_leaves_a_common_fingerprint() -> None:
    chance = random.Random(0)
    for _ in range(200):
        shared = " ".join(
            str(chance.randrange(10**6)) for _ in range(WINNOWING.run + WINNOWING.window - 1)
        )
        one, other = (
            " ".join([*(f"{name}{i}" for i in range(chance.randrange(9))), shared, name * 2])
            for name in "ab"
        )
        assert values(one) & values(other)


def test_different_texts_share_nothing() -> None:
    assert not values("a b c d e f g h i") & values("i h g f e d c b a")


def test_fewer_are_kept_than_there_are_and_every_part_is_covered() -> None:
    text = " ".join(str(number) for number in range(300))
    kept = fingerprints(symbols(text), WINNOWING)
    assert 300 / WINNOWING.window < len(kept) < 300 * 0.6
    assert {one.value for one in kept} < all_runs(symbols(text), WINNOWING)
    assert all(b.start <= a.stop + 1 for a, b in pairwise(kept))


def test_a_fingerprint_says_what_it_covers() -> None:
    text = "one two three four five"
    (only,) = fingerprints(symbols(text), WINNOWING)
    assert text[only.start : only.stop] == text


def test_short_texts_have_one_or_none() -> None:
    assert len(values("a b c")) == 1
    assert values("a b") == values("") == set() == all_runs(symbols("a b"), WINNOWING)
    assert values("a b c") != values("a b c d")
