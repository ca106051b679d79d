"""A TA's mark, as formgrader would write it."""

from __future__ import annotations

import pytest

from gradekit.errors import GradebookError
from gradekit.gradebook.gradebook import Book
from gradekit.gradebook.manual_mark import ManualMark, MarkChangedError, give_mark
from tests.helpers.gradebook import ENTRY
from tests.helpers.submissions import LAB

FIRST = ManualMark(3.0, "Well put.", needs_manual_grade=False)


def mark(book: Book, seen: ManualMark, new: ManualMark, student: str = "ada") -> None:
    give_mark(book, LAB, student, "explain", seen, new)


def test_a_mark_is_written_and_taken_back(book: Book) -> None:
    book.write(ENTRY)
    mark(book, ManualMark(), FIRST)
    marks = book.marks(LAB)["ada"]
    assert (marks.marks["explain"].manual, marks.marks["explain"].needs_manual_grade) == (
        3.0,
        False,
    )
    assert marks.comments == {"explain": "Well put."}
    mark(book, FIRST, ManualMark())
    marks = book.marks(LAB)["ada"]
    assert (marks.marks["explain"].manual, marks.marks["explain"].needs_manual_grade) == (
        None,
        True,
    )
    assert marks.comments == {}


def test_a_mark_that_the_ta_has_not_seen_stays(book: Book) -> None:
    book.write(ENTRY)
    mark(book, ManualMark(), FIRST)
    with pytest.raises(MarkChangedError, match="meanwhile: 3 points") as caught:
        mark(book, ManualMark(), ManualMark(1.0, "", needs_manual_grade=False))
    assert caught.value.now == FIRST
    assert book.marks(LAB)["ada"].marks["explain"].manual == 3.0


def test_an_answer_that_is_not_there_is_an_error(book: Book) -> None:
    book.write(ENTRY)
    with pytest.raises(GradebookError, match="no answer explain of this student"):
        mark(book, ManualMark(), FIRST, "zoe")
