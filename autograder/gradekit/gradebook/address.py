"""The address of a course's gradebook, and the rows in it.

A gradebook is nbgrader's own: SQLite by default, PostgreSQL if nbgrader_config.py has its URL.
Nothing here imports nbgrader, which takes two seconds, because a run with nothing new needs only
this file. Tested in tests/gradekit/gradebook/test_address.py.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from gradekit.course import Course
from gradekit.errors import GradebookError
from gradekit.nbgrader_settings import CONFIG_FILE, nbgrader_config

SECONDS_TO_WAIT = 30.0
_SQLITE = "sqlite:///"
_PASSWORD = re.compile(r"(?<=://)([^/:@]*):[^/]*@|(?<=[?&])(password=)[^&]*")


@dataclass(frozen=True)
class Address:
    """A gradebook: its SQLAlchemy URL, and nbgrader's id of the course in it."""

    url: str
    course_id: str

    @property
    def shown(self) -> str:
        """The URL without the password, for messages and records."""
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


def address_of(course: Course) -> Address:
    """The gradebook that nbgrader itself would use for this course."""
    given = nbgrader_config(course).CourseDirectory
    url = given.get("db_url") or f"{_SQLITE}{course.root / 'gradebook.db'}"
    return Address(str(url), str(given.get("course_id") or "default_course"))


def rows_in(address: Address) -> frozenset[str]:
    """The ids of the submissions in a gradebook; empty if there is no gradebook.

    A gradebook that was deleted and rebuilt has new ids, so entries that the journal lists as
    stored are not there. Submissions for which another program wrote points that are no finite
    number are left out, so that they are written again.

    Raises:
        GradebookError: the database does not answer, or another program has it locked.
    """
    query = """
SELECT id FROM submitted_assignment WHERE id NOT IN (
    SELECT notebook.assignment_id
    FROM submitted_notebook AS notebook JOIN grade ON grade.notebook_id = notebook.id
    WHERE grade.auto_score NOT BETWEEN -1e9 AND 1e9
)
"""
    if address.file is not None:
        if not address.file.is_file():
            return frozenset()
        # Not read-only: reading rolls back the partial writes of a killed program.
        uri = f"{address.file.resolve().as_uri()}?mode=rw"
        with closing(sqlite3.connect(uri, timeout=address.wait, uri=True)) as connection:
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
    """Whether SQLite reports that another program has the lock."""
    return isinstance(error, sqlite3.OperationalError) and "locked" in str(error)


def locked(address: Address) -> str:
    """The message for a locked gradebook."""
    return (
        f"the gradebook {address.shown} is locked: another program has been writing it for "
        f"{address.wait:g} s; stop that program or wait for it, then run the command again (graded "
        "work is recorded)"
    )


@contextmanager
def plain_errors(address: Address) -> Iterator[None]:
    """In this block, turn the errors of a database, or of a missing driver, into one sentence."""
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
            f"{CONFIG_FILE}: {address.shown} is not a database URL ({error})"
        ) from error
    except DBAPIError as error:
        if is_locked(error.orig):
            raise GradebookError(locked(address)) from error
        reason = " ".join(str(error.orig).split())
        raise GradebookError(
            f"the gradebook {address.shown} cannot be opened, read or written: {reason}; fix that "
            "and run the command again (graded work is recorded)"
        ) from error
