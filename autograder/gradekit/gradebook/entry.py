"""What one submission means to a gradebook, as a value.

Nothing here imports nbgrader, which takes two seconds: a run that finds nothing new ends here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from gradekit.course import Course
from gradekit.gradebook.address import Address
from gradekit.late import lateness_of
from gradekit.results.journal import Stored
from gradekit.results.records import State, SubmissionRecord, counted, digest_of


@dataclass(frozen=True)
class Entry:
    """One hand-in for the gradebook.

    Attributes:
        submitted_at: in UTC without a zone, as nbgrader keeps times; None where nobody knows.
        extension: seconds after the lab's due date that this student has more; 0 for none.
        scores: points by exercise; None where we failed and nobody knows.
        answers: for each free-text cell a digest of the text, empty if nothing was written; None
            where we failed.
        late_percent: of the points, what comes off for lateness.
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
        """Of all that the gradebook is given."""
        return digest_of(json.dumps(vars(self), sort_keys=True, default=str).encode())[:32]

    def stored(self, address: Address, row: str) -> Stored:
        """The journal's note that the gradebook has this entry."""
        return Stored(self.student, self.fingerprint, address.shown, row, self.answers or {})


def entry_of(
    course: Course,
    record: SubmissionRecord,
    submitted_at: datetime | None,
    scores: Mapping[str, float | None],
) -> Entry:
    """The gradebook's entry for one hand-in.

    Args:
        record: the hand-in on record.
        submitted_at: when it was handed in, by what lies in submitted/ now.
        scores: points by exercise, for all exercises of the lab, as on record; what they are where
            the hand-in is broken is decided here.
    """
    due, own_due = course.dates(record.lab).due, course.due(record.lab, record.student)
    late = lateness_of(course, record.lab, record.student, submitted_at)
    return Entry(
        record.student,
        record.lab,
        submitted_at.astimezone(UTC).replace(tzinfo=None) if submitted_at else None,
        (own_due - due).total_seconds(),
        counted(record.state, scores),
        None if record.state is State.OURS else dict(record.answers),
        late.percent,
    )


def unstored(
    entries: Iterable[Entry], stored: Mapping[str, Stored | None], rows: frozenset[str]
) -> list[Entry]:
    """The entries that the gradebook does not hold as they are.

    Args:
        stored: by student, what the journal says the gradebook was last given.
        rows: what :func:`rows_in` found.
    """
    left = []
    for entry in entries:
        known = stored.get(entry.student)
        if known is None or known.row not in rows or known.fingerprint != entry.fingerprint:
            left.append(entry)
    return left
