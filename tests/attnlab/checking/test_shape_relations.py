"""Wrong shapes in words."""

from __future__ import annotations

import pytest

from attnlab.checking.shape_relations import shape_relation


@pytest.mark.parametrize(
    ("expected", "seen", "words"),
    [
        ((2, 3, 4), (2, 4, 3), "not in this order"),
        ((2, 3, 4), (2, 12), "too few axes"),
        ((2, 1, 4), (2, 4), "of length 1 is missing"),
        ((2, 4), (2, 4, 1), "of length 1 too many"),
        ((2, 4), (2, 2, 4), "an axis too many"),
        ((2, 4), (2, 1), "has length 1 that should be longer"),
        ((2, 4), (2, 5), "off by one"),
        ((2, 4), (6, 9), "after each line"),
        ((2, 4), (2, 7), "after each line"),
    ],
)
def test_the_sentence_says_what_is_wrong(
    expected: tuple[int, ...], seen: tuple[int, ...], words: str
) -> None:
    assert words in shape_relation(expected, seen)
