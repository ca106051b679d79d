"""What one hand-in means to a gradebook, as a value; and which gradebook that is.

Nothing here imports nbgrader, which takes two seconds: a run that finds nothing new ends here.
A gradebook is nbgrader's own: SQLite by default, PostgreSQL where nbgrader_config.py has its URL.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from gradekit.course import Course
from gradekit.journal import Stored
from gradekit.late import lateness_of
from gradekit.records import State, SubmissionRecord, counted, digest_of

CONFIG_FILE = "nbgrader_config.py"
SECONDS_TO_WAIT = 30.0
_SQLITE = "sqlite:///"
_PASSWORD = re.compile(r"(?<=://)([^/:@]*):[^/]*@|(?<=[?&])(password=)[^&]*")


class GradebookError(RuntimeError):
    """The gradebook cannot be used, or contradicts the lab. One sentence: what, where, what to do.
    """


@dataclass(frozen=True)
class Address:
    """A gradebook: its SQLAlchemy URL, and nbgrader's id of the course in it."""

    url: str
    course_id: str

    @property
    def shown(self) -> str:
        """The URL as it may be read by anybody: without the password."""
        return _PASSWORD.sub(lambda m: f"{m[1]}:***@" if m[2] is None else f"{m[2]}***", self.url)

    @property
    def file(self) -> Path | None:
        """SQLite's file; None for other databases."""
        if not self.url.startswith(_SQLITE):
            return None
        return Path(self.url.removeprefix(_SQLITE).partition("?")[0])

    @property
    def wait(self) -> float:
        """The seconds to wait for another program that writes a SQLite file."""
        given = re.search(r"[?&]timeout=([\d.]+)", self.url)
        return float(given[1]) if given else SECONDS_TO_WAIT


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
        record.student, record.lab,
        submitted_at.astimezone(UTC).replace(tzinfo=None) if submitted_at else None,
        (own_due - due).total_seconds(), counted(record.state, scores),
        None if record.state is State.OURS else dict(record.answers), late.percent,
    )


def nbgrader_config(course: Course) -> Config:
    """What the course's nbgrader_config.py sets; nothing where there is none."""
    if not (course.root / CONFIG_FILE).is_file():
        return Config()
    before = dict(os.environ)  # it changes this for the kernels that nbgrader itself starts
    try:
        return PyFileConfigLoader(CONFIG_FILE, path=str(course.root)).load_config()
    finally:
        os.environ.clear()
        os.environ.update(before)


def address_of(course: Course) -> Address:
    """The gradebook that nbgrader itself would use in this course."""
    given = nbgrader_config(course).CourseDirectory
    url = given.get("db_url") or f"{_SQLITE}{course.root / 'gradebook.db'}"
    return Address(str(url), str(given.get("course_id") or "default_course"))


def rows_in(address: Address) -> frozenset[str]:
    """The ids of all submissions in a gradebook; empty where there is no gradebook.

    A gradebook that was thrown away and made anew has other ids, so what the journal says is
    stored there is not.

    Raises:
        GradebookError: the database does not answer, or another program keeps it locked.
    """
    query = "SELECT id FROM submitted_assignment"
    if address.file is not None:
        if not address.file.is_file():
            return frozenset()
        # Not read-only: what a killed program left half written is rolled back on reading.
        place = f"{address.file.resolve().as_uri()}?mode=rw"
        with closing(sqlite3.connect(place, timeout=address.wait, uri=True)) as connection:
            try:
                return frozenset(row for (row,) in connection.execute(query))
            except sqlite3.DatabaseError as error:
                if is_locked(error):
                    raise GradebookError(locked(address)) from error
                return frozenset()
    from sqlalchemy import create_engine, inspect, text

    with plain_errors(address):
        engine = create_engine(address.url)
        try:
            with engine.connect() as link:
                if not inspect(link).has_table("submitted_assignment"):
                    return frozenset()
                return frozenset(link.execute(text(query)).scalars())
        finally:
            engine.dispose()


def is_locked(error: BaseException | None) -> bool:
    """Whether SQLite says that another program holds its lock."""
    return isinstance(error, sqlite3.OperationalError) and "locked" in str(error)


def locked(address: Address) -> str:
    """What to tell people then."""
    return (
        f"the gradebook {address.shown} is locked: another program has been writing it for "
        f"{address.wait:g} s; end that program or wait for it, and run the same again (what was "
        "graded is on record)"
    )


@contextmanager
def plain_errors(address: Address) -> Iterator[None]:
    """Turn what a database, or its missing driver, says into one sentence."""
    from sqlalchemy.exc import ArgumentError, DBAPIError

    try:
        yield
    except ModuleNotFoundError as error:
        raise GradebookError(
            f"the gradebook {address.shown} needs the Python package {error.name}; "
            "pip install -e '.[postgres]', in the folder of Attention Labs, brings PostgreSQL's"
        ) from error
    except ArgumentError as error:
        raise GradebookError(
            f"{CONFIG_FILE}: {address.shown} is no address of a database ({error})"
        ) from error
    except DBAPIError as error:
        if is_locked(error.orig):
            raise GradebookError(locked(address)) from error
        said = " ".join(str(error.orig).split())
        raise GradebookError(
            f"the gradebook {address.shown} cannot be opened, read or written: {said}; mend that "
            "and run the same again (what was graded is on record)"
        ) from error


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
