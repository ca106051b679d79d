"""The grader that a long-lived program keeps, such as Jupyter's server with formgrader in it.

A command ends before anything it read can change. A server lives for weeks: whoever mends an
exercise and presses formgrader's button expects the mended one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import attnlab
from gradekit.course import RELEASED, SOLVED
from gradekit.errors import GraderError
from gradekit.grading.grader import LabGrader
from gradekit.grading.task import GraderSpec
from gradekit.grading.worker import drop_grader, grader_of
from gradekit.results.records import digest_of


@dataclass
class _Kept:
    """What this process has in its memory."""

    files: str = ""
    references: str = ""


def current_grader(spec: GraderSpec) -> LabGrader:
    """This process's grader for `spec`: the one kept, unless something it was made of has changed.

    Raises:
        GraderError: it does not give the lab's own solution full marks.
    """
    kept, files = _kept(), _state(_files(spec))
    if kept.files != files:
        drop_grader()
        kept.files = files
    return grader_of(spec)


def refuse_old_references() -> None:
    """Stop a process whose right answers are not those on the disk; for the start of a command.

    Raises:
        GraderError: the package attnlab has changed since this was first asked.
    """
    kept, now = _kept(), digest_of(*(path.read_bytes() for path in _references()))
    if kept.references and kept.references != now:
        raise GraderError(
            "the package attnlab has changed since this program was started; end it and start it "
            "again (in Jupyter: File, Shut Down)"
        )
    kept.references = now


@cache
def _kept() -> _Kept:
    return _Kept()


def _references() -> Iterable[Path]:
    return sorted(Path(attnlab.__file__).parent.rglob("*.py"))


def _files(spec: GraderSpec) -> Iterable[Path]:
    course, lab = spec.course, spec.lab
    yield course.source(lab)
    yield from course.exercises(lab).rglob("*.*")
    for folder in (course.root / RELEASED / lab, course.root / SOLVED / lab):
        yield from folder.glob("*.*")


def _state(paths: Iterable[Path]) -> str:
    """Names, sizes and dates of files: another one after any of them was written."""
    about = [(str(path), path.stat()) for path in sorted(paths)]
    return digest_of(*(f"{p}\0{s.st_size}\0{s.st_mtime_ns}".encode() for p, s in about))
