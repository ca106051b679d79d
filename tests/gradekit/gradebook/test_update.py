"""The journal's results reach the gradebook; only what has changed is written."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gradekit.course import Course
from gradekit.gradebook.address import Address
from gradekit.gradebook.gradebook import Book
from gradekit.gradebook.marks import Mark
from gradekit.gradebook.update import GradebookUpdate
from gradekit.results.journal import Journal
from gradekit.results.records import State, SubmissionRecord
from gradekit.submissions.folder import SubmittedFiles
from gradekit.submissions.released import Released
from tests.helpers.gradebook import ENTRY, give_manual_mark
from tests.helpers.submissions import LAB, result

KEYS = {"softmax": "key 1", "entropy": "key 2"}
RESULTS = (result("softmax", 8, 8), result("entropy", 1, 4))
SUBMITTED = SubmittedFiles(
    "ada", LAB, {}, {}, (), "digest", datetime(2026, 9, 20, 12, 0, tzinfo=UTC)
)
RECORD = SubmissionRecord("ada", LAB, "digest", State.GRADED, answers={"explain": "d"})


def test_a_result_is_written_once(
    course: Course, address: Address, released: Released, tmp_path: Path
) -> None:
    with Journal(tmp_path / "lab01.jsonl") as journal:
        update = GradebookUpdate(course, LAB, journal, address)
        assert update.entry(SUBMITTED, KEYS) is None, "nothing is recorded yet"
        journal.append_graded(RECORD, RESULTS, KEYS)
        entry = update.entry(SUBMITTED, KEYS)
        assert entry is not None
        assert entry.scores == {"softmax": 8, "entropy": 1}
        assert update.missing([entry]) == [entry]
        update.write([entry], released)
        assert update.missing([entry]) == []
        changed = replace(entry, late_percent=10.0)
        assert update.missing([changed]) == [changed]
    with Book(address) as book:
        assert book.marks(LAB)["ada"].marks["check_softmax"] == Mark(8, None, None, False)


def test_a_changed_answer_asks_for_another_look(
    course: Course, address: Address, released: Released, tmp_path: Path
) -> None:
    with Journal(tmp_path / "lab01.jsonl") as journal:
        update = GradebookUpdate(course, LAB, journal, address)
        for text, needs_look in (("d", False), ("another", True)):
            journal.append_graded(replace(RECORD, answers={"explain": text}), RESULTS, KEYS)
            entry = update.entry(SUBMITTED, KEYS)
            assert entry is not None
            update.write([entry], released)
            if not needs_look:
                give_manual_mark(address, "ada", "explain", 3)
            with update.book(released) as book:
                assert book.marks(LAB)["ada"].marks["explain"].needs_manual_grade is needs_look


def test_a_submission_with_other_contents_has_no_entry(
    course: Course, address: Address, tmp_path: Path
) -> None:
    with Journal(tmp_path / "lab01.jsonl") as journal:
        journal.append_graded(RECORD, RESULTS, KEYS)
        update = GradebookUpdate(course, LAB, journal, address)
        assert update.entry(replace(SUBMITTED, digest="another"), KEYS) is None


def test_the_lab_is_registered_without_any_entry(
    course: Course, address: Address, released: Released, tmp_path: Path
) -> None:
    with Journal(tmp_path / "lab01.jsonl") as journal:
        update = GradebookUpdate(course, LAB, journal, address)
        with pytest.raises(KeyError), Book(address) as book:
            book.write(ENTRY)
        with update.book(released) as book:
            book.write(ENTRY)
