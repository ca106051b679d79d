"""The folder of a course's results: the paths in it, and the course's secret.

Tested in tests/gradekit/results/test_folder.py.
"""

from __future__ import annotations

import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from gradekit.errors import CourseError

if TYPE_CHECKING:
    from gradekit.course import Course

RESULTS = "results"
_SECRET_BYTES = 32


def results_folder(course: Course) -> Path:
    """The folder that holds everything below."""
    return course.root / RESULTS


def journal_path(course: Course, lab: str) -> Path:
    """The journal of one lab."""
    return results_folder(course) / f"{lab}.jsonl"


def graded_journal_path(course: Course, lab: str) -> Path:
    """The journal of a lab that has results.

    Raises:
        CourseError: nothing was graded yet.
    """
    path = journal_path(course, lab)
    if not path.is_file():
        raise CourseError(f"{lab} has no results yet; `lab grade {lab}` makes them")
    return path


def graded_labs(course: Course) -> list[str]:
    """The labs that have results, in the course's order."""
    return [lab for lab in course.labs if journal_path(course, lab).is_file()]


def failures_path(course: Course, lab: str) -> Path:
    """The log of the grader's own failures, with their tracebacks."""
    return results_folder(course) / f"{lab}.failures.log"


def keys_path(course: Course, lab: str) -> Path:
    """The file that remembers under which keys the lab's results are filed."""
    return results_folder(course) / f"{lab}.keys.json"


def course_secret(folder: Path) -> bytes:
    """The course's own random bytes, which make hidden inputs unguessable.

    They are made on the first run.

    Args:
        folder: the course's :func:`results_folder`.

    Raises:
        CourseError: the file is too short to be a secret, or cannot be read.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "secret"
    if path.is_file() and path.stat().st_size == 0:
        path.unlink()  # never written, so nothing was graded with it
    if not path.exists():
        handle, whole = tempfile.mkstemp(prefix=".secret.", dir=folder)
        try:
            with open(handle, "wb") as file:
                file.write(secrets.token_bytes(_SECRET_BYTES))
                file.flush()
                os.fsync(handle)
            with suppress(FileExistsError):  # another run made it first
                os.link(whole, path)
        finally:
            os.unlink(whole)
    try:
        secret = path.read_bytes()
    except OSError as error:
        raise CourseError(
            f"{path} cannot be read ({error.strerror}); correct its permissions"
        ) from error
    if len(secret) < _SECRET_BYTES:
        raise CourseError(
            f"{path} has {len(secret)} of {_SECRET_BYTES} bytes, so hidden inputs could be "
            "guessed; restore it from a backup, or delete it and every hand-in is graded again"
        )
    return secret
