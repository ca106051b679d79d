"""One submission's values in a gradebook.

Nothing here imports nbgrader, which takes two seconds, because a run with nothing new needs only
this file. Tested in tests/gradekit/gradebook/test_entry.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import assert_never

from gradekit.course import Course
from gradekit.gradebook.address import Address
from gradekit.results.journal import GradebookRecord
from gradekit.results.records import State, SubmissionRecord, digest_of, points_that_count
from gradekit.submissions.slip_days import lateness_now


@dataclass(frozen=True)
class Entry:
    """One submission for the gradebook.

    Attributes:
        submitted_at: in UTC without a zone, as nbgrader keeps times; None if unknown.
        extension: seconds that this student has after the lab's due date; 0 for none.
        scores: points by exercise; None if the grader failed.
        answers: for each free-text cell a digest of the text, empty if there is none; None if the
            grader failed.
        late_percent: the percentage of the points to subtract for lateness.
    """

    student: str
    lab: str
    submitted_at: datetime | None
    extension: float
    scores: Mapping[str, float | None]
    answers: Mapping[str, str] | None
    late_percent: float

    @property
    def fingerprint(self) -> str:
        """A digest of all values."""
        return digest_of(json.dumps(vars(self), sort_keys=True, default=str).encode())[:32]

    def stored(self, address: Address, row: str) -> GradebookRecord:
        """The journal's note that the gradebook has this entry."""
        return GradebookRecord(
            self.student, self.fingerprint, address.shown, row, self.answers or {}
        )


def entry_of(
    course: Course,
    record: SubmissionRecord,
    submitted_at: datetime | None,
    scores: Mapping[str, float | None],
) -> Entry:
    """The gradebook's entry for one submission.

    Args:
        record: of the submission, from the journal.
        submitted_at: the time of the submission, from its files in submitted/ now.
        scores: the recorded points of all exercises of the lab. The entry of a broken submission
            gets 0 or None instead.
    """
    due, own_due = course.lab(record.lab).due, course.due(record.lab, record.student)
    late = lateness_now(course, record.lab, record.student, submitted_at)
    return Entry(
        record.student,
        record.lab,
        submitted_at.astimezone(UTC).replace(tzinfo=None) if submitted_at else None,
        (own_due - due).total_seconds(),
        points_that_count(record.state, scores),
        _answers(record),
        late.percent,
    )


def _answers(record: SubmissionRecord) -> dict[str, str] | None:
    match record.state:
        case State.OURS:
            return None
        case State.GRADED | State.LATE | State.THEIRS:
            return dict(record.answers)
        case unknown:
            assert_never(unknown)


def unstored(
    entries: Iterable[Entry], stored: Mapping[str, GradebookRecord | None], rows: frozenset[str]
) -> list[Entry]:
    """The entries that the gradebook lacks, or holds with other values.

    Args:
        stored: by student, the journal's note of what was last written to the gradebook.
        rows: the ids from :func:`gradekit.gradebook.address.rows_in`.
    """
    left = []
    for entry in entries:
        known = stored.get(entry.student)
        if known is None or known.row not in rows or known.fingerprint != entry.fingerprint:
            left.append(entry)
    return left
