"""Grading on many machines: submissions as tasks of a Dask cluster, bytes in and bytes out.

The machines share no files. A lab's files (course.toml, sources, notebooks, exercise files) go to
each worker once, even to one that joins later or returns; a task then carries a submission there
and its result back. Each worker keeps a fork server of its own: student code never runs in the
worker itself.
"""

from __future__ import annotations

import io
import platform
import re
import zipfile
from collections import Counter
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
from gradekit.errors import CourseError, SandboxUnavailableError
from gradekit.files import LockedTempFolder
from gradekit.grading.remote import grade_task
from gradekit.grading.task import GradedSubmission, GraderSpec, GradingTask
from gradekit.results.records import digest_of
from gradekit.sandbox.levels import choose

SECONDS_TO_CONNECT = 20
_ADDRESS = re.compile(r"(\w+://)?\S+:\d+")


@dataclass(frozen=True)
class Cluster:
    """A connected cluster that has a lab's files.

    Attributes:
        workers: the number of submissions that it can grade at a time.
        function: grades a task there, as `grade_task` does on this machine.
        pool: makes the executor, for :func:`gradekit.grading.pool.run`.
        sandboxes: how its workers confine student code, one line for each way.
    """

    workers: int
    function: Callable[[GradingTask], GradedSubmission]
    pool: Callable[[int], Executor]
    sandboxes: tuple[str, ...]


@contextmanager
def connected(address: str, spec: GraderSpec) -> Iterator[Cluster]:
    """Connect to the scheduler at `address` and send each worker the lab's files.

    Raises:
        CourseError: no scheduler answers, it has no workers, or a worker has other versions or
            cannot confine student code.
    """
    if not _ADDRESS.fullmatch(address):
        raise CourseError(f"--cluster {address}: write an address like tcp://HOST:8786")
    try:
        client = Client(address, timeout=SECONDS_TO_CONNECT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise CourseError(
            f"--cluster {address}: no Dask scheduler answers there ({error}); start one with "
            "`dask scheduler`, or see docs/cluster.md"
        ) from error
    with client:
        files = LabFiles(_packed(spec.course, spec.lab), _versions())
        try:
            client.register_plugin(files, name=files.name)
        except (RuntimeError, OSError) as error:
            with suppress(OSError, ValueError):  # so that the next try asks the workers again
                client.unregister_worker_plugin(files.name)
            raise CourseError(f"--cluster {address}: {error}") from error
        workers = sum(client.nthreads().values())
        if not workers:
            raise CourseError(
                f"--cluster {address}: the scheduler has no workers; start one on each machine "
                f"with `dask worker {address} --nthreads 1`"
            )
        try:
            yield Cluster(
                workers,
                _Remote(files.name),
                lambda jobs: client.get_executor(),
                _sandboxes(client, spec.level),
            )
        except CancelledError as error:
            raise CourseError(
                f"--cluster {address}: lost the connection to the scheduler; graded work is "
                "recorded, so restart it and repeat the command"
            ) from error


class LabFiles(WorkerPlugin):
    """Keeps one lab's files in a temporary folder of a worker."""

    # The next run of the same lab finds the folder, and with it the worker's warm grader.
    idempotent = True

    def __init__(self, packed: bytes, versions: tuple[str, ...]) -> None:
        self.packed, self.versions = packed, versions
        self.name = f"attention-labs-{digest_of(packed, *(v.encode() for v in versions))}"
        self.folder: Path | None = None
        self._temporary: LockedTempFolder | None = None

    def setup(self, worker: Worker) -> None:
        """Unpack the files.

        Raises:
            RuntimeError: this worker's results could differ from those of the machine that asks.
        """
        ours = _versions()
        for there, here in zip(self.versions, ours, strict=True):
            if there != here:
                raise RuntimeError(
                    f"worker {worker.address} has {here}, the machine that asks has {there}; "
                    "install the same environment on both"
                )
        self._temporary = LockedTempFolder()
        self.folder = self._temporary.path
        with zipfile.ZipFile(io.BytesIO(self.packed)) as archive:
            archive.extractall(self.folder)

    def teardown(self, worker: Worker) -> None:
        """Remove the files."""
        if self._temporary is not None:
            self._temporary.close()


@dataclass(frozen=True)
class _Remote:
    """Runs on a worker: grades a task with the lab's files there."""

    plugin: str

    def __call__(self, task: GradingTask) -> GradedSubmission:
        folder = cast("LabFiles", get_worker().plugins[self.plugin]).folder
        course = task.spec.course.model_copy(update={"root": folder})
        return grade_task(replace(task, spec=replace(task.spec, course=course)))


def _sandboxes(client: Client, request: str) -> tuple[str, ...]:
    """How the workers confine student code; each chooses for its own machine."""
    try:
        lines = client.run(_line_of, request)
    except SandboxUnavailableError as error:
        raise CourseError(f"a worker of the cluster cannot grade: {error}") from error
    counts = Counter(lines.values())
    return tuple(
        f"{count} worker{'s' * (count > 1)}, {line}" for line, count in sorted(counts.items())
    )


def _line_of(request: str) -> str:
    return choose(request).line


def _packed(course: Course, lab: str) -> bytes:
    """The files of the course that grading `lab` reads, as a zip."""
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
    """What must be equal on all machines, because results depend on it."""
    return (
        f"Python {platform.python_version()}",
        f"torch {torch.__version__}",
        f"Attention Labs {_code_digest()[:12]}",
    )


def _code_digest() -> str:
    """A digest of the library's and the grader's files."""
    return digest_of(*(path.read_bytes() for path, _ in [*library_files(), *kit_files()]))
