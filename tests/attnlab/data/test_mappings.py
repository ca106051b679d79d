"""Tables of letters and digits: fixed, different from each other, with a known best accuracy."""

from __future__ import annotations

import hashlib

import pytest
import torch

from attnlab.data.mappings import (
    DIGITS,
    LETTERS,
    NAMES,
    UNNAMED,
    VOCABULARY,
    as_text,
    best_accuracy,
    course_tables,
    new_tables,
)

TABLES = "6e8ef5b7ad938134"


def test_the_course_tables_are_the_same_on_every_machine() -> None:
    tables = course_tables()
    assert hashlib.sha256(bytes(tables.flatten().tolist())).hexdigest()[:16] == TABLES
    assert tables.shape == (len(NAMES), len(LETTERS))
    assert torch.equal(tables.sort(1).values, torch.tensor(list(DIGITS)).expand_as(tables))
    assert len({*map(tuple, tables.tolist())}) == len(NAMES)


def test_new_tables_are_others() -> None:
    known, new = course_tables().tolist(), new_tables(300).tolist()
    assert not {*map(tuple, known)} & {*map(tuple, new)}
    assert new_tables(5, seed=1).tolist() == new_tables(7, seed=1).tolist()[:5]
    assert new_tables(5, seed=1).tolist() != new_tables(5, seed=2).tolist()


def test_the_best_accuracy_of_two_tables_by_hand() -> None:
    # Digits 10 … 19 and the same with the first two exchanged: letters a and b differ, the other
    # eight do not. Without examples a and b are guessed: (8 + 2 / 2) / 10.
    one = torch.arange(10, 20)
    other = one[[1, 0, *range(2, 10)]]
    two = torch.stack((one, other))
    assert best_accuracy(two, 0) == pytest.approx(0.9)
    # One example of nine settles a question about a or b if it is the other of the two.
    assert best_accuracy(two, 1) == pytest.approx(0.8 + 0.2 * (1 / 9 + 8 / 9 / 2))
    assert best_accuracy(two, 9) == 1.0


def test_the_best_accuracy_rises_with_examples() -> None:
    found = [best_accuracy(course_tables(), shots) for shots in range(6)]
    assert found == sorted(found)
    assert found == pytest.approx([0.256, 0.602, 0.926, 0.990, 0.998, 1.0], abs=6e-4)


def test_a_prompt_as_text() -> None:
    assert len(VOCABULARY) == UNNAMED + 1
    assert as_text([NAMES[5], 0, 17, 3, 12, 7]) == "F a7 d2 h"
    assert as_text([UNNAMED, 7]) == "? h"
