"""A TA's mark, as formgrader would write it."""

from __future__ import annotations

import pytest

from gradekit.errors import GradebookError
from gradekit.gradebook.by_hand import HandMark, MarkChangedError, give_mark
from gradekit.gradebook.gradebook import Book
from tests.helpers.gradebook import ENTRY
from tests.helpers.submissions import LAB

FIRST = HandMark(3.0, "Well put.", open=False)


def mark(book: Book, seen: HandMark, new: HandMark, student: str = "ada") -> None:
    give_mark(book, LAB, student, "explain", seen, new)


def test_a_mark_is_written_and_taken_back(book: Book) -> None:
    book.write(ENTRY)
    mark(book, HandMark(), FIRST)
    marks = book.marks(LAB)["ada"]
    assert (marks.marks["explain"].manual, marks.marks["explain"].open) == (3.0, False)
    assert marks.comments == {"explain": "Well put."}
    mark(book, FIRST, HandMark())
    marks = book.marks(LAB)["ada"]
    assert (marks.marks["explain"].manual, marks.marks["explain"].open) == (None, True)
    assert marks.comments == {}


def test_a_mark_that_the_ta_has_not_seen_stays(book: Book) -> None:
    book.write(ENTRY)
    mark(book, HandMark(), FIRST)
    with pytest.raises(MarkChangedError, match="meanwhile: 3 points") as caught:
        mark(book, HandMark(), HandMark(1.0, "", open=False))
    assert caught.value.now == FIRST
    assert book.marks(LAB)["ada"].marks["explain"].manual == 3.0


def test_an_answer_that_is_not_there_is_an_error(book: Book) -> None:
    book.write(ENTRY)
    with pytest.raises(GradebookError, match="no answer explain of this student"):
        mark(book, HandMark(), FIRST, "zoe")
