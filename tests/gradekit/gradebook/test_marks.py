"""How a new result changes a cell's mark."""

from __future__ import annotations

import pytest

from gradekit.gradebook.marks import Mark, grade_of_answer, grade_of_test


@pytest.mark.parametrize(
    ("known", "score", "then"),
    [
        (Mark(), 3.0, Mark(3.0, None, None, False)),
        (Mark(5.0, None, None, False), 3.0, Mark(3.0, None, None, False)),
        (Mark(5.0, 4.0, None, False), 5.0, Mark(5.0, 4.0, None, False)),
        (Mark(5.0, 4.0, None, False), 3.0, Mark(3.0, 4.0, None, True)),
        (Mark(5.0, None, None, False), None, Mark(None, None, None, True)),
    ],
)
def test_marks_of_tests(known: Mark, score: float | None, then: Mark) -> None:
    assert grade_of_test(known, score) == then


@pytest.mark.parametrize(
    ("known", "text", "before", "then"),
    [
        (Mark(), "d", None, Mark(None, None, None, True)),
        (Mark(), "", None, Mark(0.0, None, None, False)),
        (Mark(None, 3.0, None, False), "d", "d", Mark(None, 3.0, None, False)),
        (Mark(None, 3.0, None, False), "d", None, Mark(None, 3.0, None, False)),
        (Mark(None, 3.0, None, False), "e", "d", Mark(None, 3.0, None, True)),
        (Mark(None, 3.0, 1.0, False), None, "d", Mark(None, 3.0, 1.0, False)),
        (Mark(0.0, None, None, False), None, "", Mark(None, None, None, True)),
    ],
)
def test_marks_of_answers(known: Mark, text: str | None, before: str | None, then: Mark) -> None:
    assert grade_of_answer(known, text, before) == then
