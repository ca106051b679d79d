"""What one hand-in means to a gradebook, as a value; and which gradebook that is.

Nothing here imports nbgrader, which takes two seconds: a run that finds nothing new ends here.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from gradekit.course import Course
from gradekit.journal import Stored
from gradekit.late import lateness_of
from gradekit.records import State, SubmissionRecord, counted, digest_of

CONFIG_FILE = "nbgrader_config.py"
_SQLITE = "sqlite:///"


@dataclass(frozen=True)
class Address:
    """A gradebook: its SQLAlchemy URL, and nbgrader's id of the course in it."""

    url: str
    course_id: str


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
        return digest_of(json.dumps(asdict(self), sort_keys=True, default=str).encode())[:32]

    def stored(self, address: Address, row: str) -> Stored:
        """The journal's note that the gradebook has this entry."""
        return Stored(self.student, self.fingerprint, address.url, row, self.answers or {})


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
        record.student, record.lab,
        submitted_at.astimezone(UTC).replace(tzinfo=None) if submitted_at else None,
        (own_due - due).total_seconds(), counted(record.state, scores),
        None if record.state is State.OURS else dict(record.answers), late.percent,
    )


def address_of(course: Course) -> Address:
    """The gradebook that nbgrader itself would use in this course."""
    config = Config()
    if (course.root / CONFIG_FILE).is_file():
        config = PyFileConfigLoader(CONFIG_FILE, path=str(course.root)).load_config()
    given = config.CourseDirectory
    url = given.get("db_url") or f"{_SQLITE}{course.root / 'gradebook.db'}"
    return Address(str(url), str(given.get("course_id") or "default_course"))


def rows_in(address: Address) -> frozenset[str]:
    """The ids of all submissions in a gradebook; empty where there is no gradebook.

    A gradebook that was thrown away and made anew has other ids, so what the journal says is
    stored there is not.
    """
    query = "SELECT id FROM submitted_assignment"
    if address.url.startswith(_SQLITE):
        path = Path(address.url.removeprefix(_SQLITE).partition("?")[0])
        if not path.is_file():
            return frozenset()
        with closing(sqlite3.connect(f"file:{path.resolve()}?mode=ro", uri=True)) as connection:
            try:
                return frozenset(row for (row,) in connection.execute(query))
            except sqlite3.DatabaseError:
                return frozenset()
    from sqlalchemy import create_engine, inspect, text

    engine = create_engine(address.url)
    try:
        with engine.connect() as link:
            if not inspect(link).has_table("submitted_assignment"):
                return frozenset()
            return frozenset(link.execute(text(query)).scalars())
    finally:
        engine.dispose()


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
