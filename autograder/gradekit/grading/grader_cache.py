"""A process's grader, which stays warm from one submission to the next.

Making a grader takes seconds: its sandbox starts, and the lab's own solution is graded. A process
that grades a class makes one and keeps it. A server, such as Jupyter's with formgrader in it, lives
for weeks and keeps one, too: after an instructor fixes an exercise and presses formgrader's
button, it must grade with the fixed one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from multiprocessing.util import Finalize
from pathlib import Path
from threading import RLock

import torch

import attnlab
from gradekit.course import RELEASED, SOLVED
from gradekit.errors import GraderError
from gradekit.grading.grader import LabGrader
from gradekit.grading.lab_solution import check_lab_solution
from gradekit.grading.task import GraderSpec
from gradekit.results.records import digest_of


class GraderCache:
    """The grader that was asked for last, with its running sandbox; another lab replaces it."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._grader: LabGrader | None = None
        self._close: Finalize | None = None
        self._files = ""
        self._references = ""

    @contextmanager
    def lent(self, spec: GraderSpec) -> Iterator[LabGrader]:
        """The grader for `spec`, for this thread alone: a grader has only one sandbox.

        Raises:
            GraderError: it does not give the lab's own solution full marks.
        """
        with self._lock:
            yield self.get(spec)

    def get(self, spec: GraderSpec) -> LabGrader:
        """The grader for `spec`, whatever has changed on the disk since it was made.

        Raises:
            GraderError: it does not give the lab's own solution full marks.
        """
        with self._lock:
            if self._grader is None or self._grader.spec != spec:
                self._replace(spec)
            assert self._grader is not None
            return self._grader

    def up_to_date(self, spec: GraderSpec) -> LabGrader:
        """The grader for `spec`; a new one if any file that it was made of has changed.

        Raises:
            GraderError: it does not give the lab's own solution full marks.
        """
        with self._lock:
            files = _state(_files(spec))
            if self._files != files:
                self.close()
                self._files = files
            return self.get(spec)

    def refuse_old_references(self) -> None:
        """Stop a process whose reference code differs from the files on the disk.

        Call it at the start of a command. Exercises can be read again, but not an imported package.

        Raises:
            GraderError: the package attnlab has changed since the first call.
        """
        now = digest_of(*(path.read_bytes() for path in _references()))
        if self._references and self._references != now:
            raise GraderError(
                "the package attnlab has changed since this program was started; end it and start "
                "it again (in Jupyter: File, Shut Down)"
            )
        self._references = now

    def close(self) -> None:
        """End the grader and its sandbox, if there is one."""
        with self._lock:
            if self._close is not None:
                self._close()
            self._grader = self._close = None

    def _replace(self, spec: GraderSpec) -> None:
        self.close()
        # Workers share the cores; threads within each of them would only compete.
        torch.set_num_threads(1)
        self._grader = grader = LabGrader(spec)
        # A worker's interpreter ends without running atexit functions, but it runs these.
        self._close = Finalize(None, grader.__exit__, args=(None, None, None), exitpriority=10)
        try:
            check_lab_solution(grader)
        except BaseException:
            self.close()
            raise


@cache
def process_cache() -> GraderCache:
    """The one cache of this process.

    A process pool, Dask and nbgrader only call functions or make new objects for each submission:
    nothing of theirs lives as long as the process and could hold the grader.
    """
    return GraderCache()


def _references() -> Iterable[Path]:
    return sorted(Path(attnlab.__file__).parent.rglob("*.py"))


def _files(spec: GraderSpec) -> Iterable[Path]:
    course, lab = spec.course, spec.lab
    yield course.source(lab)
    yield from course.exercises(lab).rglob("*.*")
    for folder in (course.root / RELEASED / lab, course.root / SOLVED / lab):
        yield from folder.glob("*.*")


def _state(paths: Iterable[Path]) -> str:
    """A digest of files' names, sizes and dates, which changes when any of them is written."""
    about = [(str(path), path.stat()) for path in sorted(paths)]
    return digest_of(*(f"{p}\0{s.st_size}\0{s.st_mtime_ns}".encode() for p, s in about))
