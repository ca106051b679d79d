"""Who gave which mark and when: one line for each, appended to ``results/<lab>.marks.jsonl``.

The marks themselves are in the gradebook. This file keeps what the gradebook has no place for: who
marked, and which items of the mark scheme were chosen.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from gradekit.course import Course
from gradekit.errors import ResultNotKeptError
from gradekit.results.folder import results_folder
from gradekit.results.lock import write_all


@dataclass(frozen=True)
class GivenMark:
    """One mark that was given.

    Attributes:
        items: positions in the mark scheme, counted from 0.
        marker: who gave it; empty if unknown.
        at: ISO 8601, in UTC.
    """

    student: str
    question: str
    points: float | None
    comment: str
    items: tuple[int, ...]
    marker: str
    at: str = ""


def history_path(course: Course, lab: str) -> Path:
    """The file of one lab."""
    return results_folder(course) / f"{lab}.marks.jsonl"


def append(course: Course, lab: str, mark: GivenMark) -> None:
    """Append one line and flush it to the disk.

    Raises:
        ResultNotKeptError: it cannot be written.
    """
    path = history_path(course, lab)
    values = asdict(mark) | {"at": datetime.now(UTC).isoformat(timespec="seconds")}
    line = json.dumps(values).encode() + b"\n"
    try:
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            write_all(handle, line)
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        raise ResultNotKeptError(
            f"the mark is in the gradebook, but {path} cannot be written ({error.strerror}), so "
            "the marker's name is not recorded"
        ) from error


def latest(course: Course, lab: str) -> dict[tuple[str, str], GivenMark]:
    """The last mark by student and question; damaged lines are left out."""
    found: dict[tuple[str, str], GivenMark] = {}
    try:
        lines = history_path(course, lab).read_bytes().splitlines()
    except FileNotFoundError:
        return {}
    for line in lines:
        try:
            values = json.loads(line)
            mark = GivenMark(**{**values, "items": tuple(values["items"])})
        except (ValueError, TypeError, KeyError):
            continue
        found[mark.student, mark.question] = mark
    return found
