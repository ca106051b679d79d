"""The entry of a submission, and which entries a gradebook lacks."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from gradekit.course import Course
from gradekit.gradebook.address import Address, rows_in
from gradekit.gradebook.entry import entry_of, unstored
from gradekit.gradebook.gradebook import Book
from gradekit.results.records import State, SubmissionRecord
from tests.helpers.gradebook import ENTRY
from tests.helpers.submissions import LAB


def submission(student: str, state: State = State.GRADED) -> SubmissionRecord:
    return SubmissionRecord(student, LAB, "digest", state, answers={"explain": "d"})


def test_an_entry_knows_dates_and_states(course: Course) -> None:
    scores = {"softmax": 8.0, "entropy": 2.0}
    late = datetime(2026, 9, 21, 21, 0, tzinfo=UTC)
    ada = entry_of(course, submission("ada"), late, scores)
    assert (ada.late_percent, ada.extension) == (10, 0)
    assert ada.submitted_at == datetime(2026, 9, 21, 21, 0)
    bob = entry_of(course, submission("bob"), late, scores)
    assert (bob.late_percent, bob.extension) == (0, 2 * 86400)
    theirs = entry_of(course, submission("ada", State.THEIRS), late, scores)
    assert theirs.scores == {"softmax": 0, "entropy": 0}
    ours = entry_of(course, submission("ada", State.OURS), late, scores)
    assert ours.scores == {"softmax": None, "entropy": None}
    assert ours.answers is None
    assert entry_of(course, submission("ada"), None, scores).late_percent == 0


def test_an_unknown_state_raises(course: Course) -> None:
    lost: Any = "lost"
    with pytest.raises(AssertionError, match="lost"):
        entry_of(course, submission("ada", lost), None, {"softmax": 8.0})


def test_only_what_changed_is_stored_again(book: Book, address: Address) -> None:
    bob = replace(ENTRY, student="bob")
    stored = {entry.student: entry.stored(address, book.write(entry)) for entry in (ENTRY, bob)}
    rows = rows_in(address)
    assert unstored([ENTRY, bob], stored, rows) == []
    late = replace(bob, late_percent=10.0)
    assert unstored([ENTRY, late], stored, rows) == [late]
    cyd = replace(ENTRY, student="cyd")
    assert unstored([ENTRY, cyd], {**stored, "cyd": None}, rows) == [cyd]
    # A rebuilt gradebook is empty, even if the journal lists entries as stored.
    assert unstored([ENTRY, bob], stored, frozenset()) == [ENTRY, bob]
