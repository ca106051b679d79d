"""Grading on many machines: hand-ins as tasks of a Dask cluster, bytes in and bytes out.

The machines share no files. What a lab needs (course.toml, sources, notebooks, exercise files) goes
to each worker once, also to one that joins later or comes back; a task then carries a hand-in and
brings back its result. Each worker keeps a fork server of its own: student code never runs in the
worker itself.
"""

from __future__ import annotations

import io
import platform
import threading
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import torch
from distributed import Client, WorkerPlugin, get_worker
from distributed.worker import Worker

from gradekit.build.library_files import kit_files, library_files
from gradekit.course import FILE_NAME, RELEASED, SOLVED, Course
from gradekit.errors import CourseError
from gradekit.files import LockedTempFolder
from gradekit.grading.task import GradedSubmission, GradingTask
from gradekit.grading.worker import grade_one
from gradekit.results.records import digest_of

SECONDS_TO_CONNECT = 20
# A worker has one warm grader, and the grader one sandbox: its threads take turns.
_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True)
class Cluster:
    """A connected cluster that has a lab's files.

    Attributes:
        workers: how many hand-ins it can grade at a time.
        function: what a task is given to in place of `grade_one`.
        pool: makes the executor, for :func:`gradekit.grading.pool.run`.
    """

    workers: int
    function: Callable[[GradingTask], GradedSubmission]
    pool: Callable[[int], Executor]


@contextmanager
def connected(address: str, course: Course, lab: str) -> Iterator[Cluster]:
    """Connect to the scheduler at `address` and send each worker what `lab` needs.

    Raises:
        CourseError: nobody answers there, there are no workers, or one cannot grade as we do.
    """
    try:
        client = Client(address, timeout=SECONDS_TO_CONNECT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise CourseError(
            f"--cluster {address}: no Dask scheduler answers there ({error}); start one with "
            "`dask scheduler`, or see docs/cluster.md"
        ) from error
    with client:
        files = LabFiles(_packed(course, lab), _versions())
        try:
            client.register_plugin(files, name=files.name)
        except (RuntimeError, OSError) as error:
            with suppress(OSError, ValueError):  # the next try is to ask the workers again
                client.unregister_worker_plugin(files.name)
            raise CourseError(f"--cluster {address}: {error}") from error
        workers = sum(client.nthreads().values())
        if not workers:
            raise CourseError(
                f"--cluster {address}: the scheduler has no workers; start one on each machine "
                f"with `dask worker {address} --nthreads 1`"
            )
        try:
            yield Cluster(workers, _Remote(files.name), lambda jobs: client.get_executor())
        except CancelledError as error:
            raise CourseError(
                f"--cluster {address}: the scheduler went away; what was graded is on record, so "
                "start it again and repeat the command"
            ) from error


class LabFiles(WorkerPlugin):
    """Keeps one lab's files in a temporary folder of a worker."""

    # The next run of the same lab finds the folder, and with it the worker's warm grader.
    idempotent = True

    def __init__(self, packed: bytes, versions: tuple[str, ...]) -> None:
        self.packed, self.versions = packed, versions
        self.name = f"attention-labs-{digest_of(packed, *(v.encode() for v in versions))}"
        self.folder: Path | None = None
        self._held: LockedTempFolder | None = None

    def setup(self, worker: Worker) -> None:
        """Unpack; refuse a worker whose results could differ from ours."""
        ours = _versions()
        for there, here in zip(self.versions, ours, strict=True):
            if there != here:
                raise RuntimeError(
                    f"worker {worker.address} has {here}, the machine that asks has {there}; "
                    "install the same environment on both"
                )
        self._held = LockedTempFolder()
        self.folder = self._held.path
        with zipfile.ZipFile(io.BytesIO(self.packed)) as archive:
            archive.extractall(self.folder)

    def teardown(self, worker: Worker) -> None:
        """Remove the files."""
        if self._held is not None:
            self._held.close()


@dataclass(frozen=True)
class _Remote:
    """Runs on a worker: grades a task with the lab's files that lie there."""

    plugin: str

    def __call__(self, task: GradingTask) -> GradedSubmission:
        folder = cast("LabFiles", get_worker().plugins[self.plugin]).folder
        course = task.spec.course.model_copy(update={"root": folder})
        with _ONE_AT_A_TIME:
            return grade_one(replace(task, spec=replace(task.spec, course=course)))


def _packed(course: Course, lab: str) -> bytes:
    """What grading `lab` reads of the course's folder, as a zip."""
    folders = [course.root / RELEASED / lab, course.root / SOLVED / lab, course.exercises("")]
    paths = [course.root / FILE_NAME, *sorted((course.root / SOLVED).glob("*.py"))]
    paths += [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in paths:
            if "__pycache__" not in path.parts:
                name = path.relative_to(course.root).as_posix()
                archive.writestr(zipfile.ZipInfo(name), path.read_bytes())
    return data.getvalue()


def _versions() -> tuple[str, ...]:
    """What must be equal on all machines, or their results could differ."""
    return (
        f"Python {platform.python_version()}",
        f"torch {torch.__version__}",
        f"Attention Labs {_code_digest()[:12]}",
    )


def _code_digest() -> str:
    """Of the library's and the grader's files."""
    return digest_of(*(path.read_bytes() for path, _ in [*library_files(), *kit_files()]))
