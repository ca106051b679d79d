"""The speed-up from a second worker process of a Dask cluster.

    python benchmarks/cluster.py [--students 200] [--repeats 3]
    python benchmarks/cluster.py --quick    a class of 50, once

Scheduler and workers are started as in docs/cluster.md and warmed up with a few submissions. Then
they grade the same class with one worker and with two. Each worker is limited to a core of its own,
like a worker in a cluster that is fully used. For comparison, the table has the speed-up of the
machine itself: the floor (fork and `exec`) on one core and on two. Throughput counts from the first
submission to the last result.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

HERE = Path(__file__).resolve().parent
sys.path[0:1] = [
    str(path) for path in (
        HERE.parent / "lib", HERE.parent / "autograder", HERE, HERE.parent
    )
]  # fmt: skip

import typer  # noqa: E402
from classes import LAB, Class, assert_right, new_course, some_class, submit  # noqa: E402
from contenders import Floor  # noqa: E402
from distributed import Client  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402

from gradekit.course import Course  # noqa: E402
from gradekit.grading.grade import Settings, grade_lab  # noqa: E402
from gradekit.grading.progress import ProgressReporter  # noqa: E402

_WARM = 4
_PROMISED = 1.8
_START_SECONDS = 60


def main(
    students: Annotated[int, typer.Option(help="Number of hand-ins.")] = 200,
    repeats: Annotated[int, typer.Option(help="Number of runs with one worker and with two.")] = 3,
    quick: Annotated[bool, typer.Option(help="A smaller class, once.")] = False,
) -> None:
    """Measure, print, and fail if two workers are less than 1.8 times as fast as one."""
    if quick:
        students, repeats = 50, 1
    with tempfile.TemporaryDirectory(prefix="benchmark-") as name:
        folder = Path(name)
        course = new_course(folder / "course")
        people = some_class(course, students)
        rows = [
            (_rate(course, people, 1), _rate(course, people, 2), *_machine(folder, course, people))
            for _ in range(repeats)
        ]
    table = Table()
    for heading in ("run", "one worker", "two", "ratio", "floor, one", "two at a time", "ratio"):
        table.add_column(heading, justify="right")
    for number, (one, two, alone, both) in enumerate(rows, start=1):
        numbers = (one, two, two / one, alone, both, both / alone)
        table.add_row(str(number), *(f"{value:.3g}" for value in numbers))
    console = Console()
    console.print(table)
    console.print(f"hand-ins per minute, {students} hand-ins of lab 1", highlight=False)
    best = sorted(two / one for one, two, _, _ in rows)[len(rows) // 2]
    sys.exit(best < _PROMISED)


def _rate(course: Course, people: Class, workers: int) -> float:
    """Submissions per minute on a cluster with that number of workers."""
    with _cluster(workers) as address:
        _grade(course, people.first(_WARM * workers), address)
        stopwatch = _grade(course, people, address)
    return 60 * len(people.submissions) / (stopwatch.last - stopwatch.first)


def _grade(course: Course, people: Class, address: str) -> _Stopwatch:
    submit(course, people)
    stopwatch = _Stopwatch()
    summary = grade_lab(course, LAB, Settings(cluster=address), stopwatch)
    assert_right(course, people, [row.to_json() for row in summary.rows])
    return stopwatch


class _Stopwatch(ProgressReporter):
    """Records when grading began and when the last result came."""

    def say(self, sentence: str) -> None:
        pass

    def begin(self, count: int) -> None:
        self.first = self.last = time.perf_counter()

    def advance(self, student: str) -> None:
        self.last = time.perf_counter()


@contextmanager
def _cluster(workers: int) -> Iterator[str]:
    """A scheduler and its workers, as separate processes; yields the address."""
    port = 8786
    address = f"tcp://127.0.0.1:{port}"
    dask = [sys.executable, "-m", "dask"]
    scheduler = [*dask, "scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
    worker = [*dask, "worker", address, "--nworkers", "1", "--nthreads", "1", "--no-dashboard"]
    variables = {
        **os.environ,
        "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
        "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "1s",
    }
    processes = [
        subprocess.Popen(line, env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for line in (scheduler, *(_on_core(core, worker) for core in _cores()[:workers]))
    ]
    try:
        with Client(address, timeout=_START_SECONDS, set_as_default=False) as client:
            client.wait_for_workers(workers, timeout=_START_SECONDS)
        yield address
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait()


def _cores() -> list[int]:
    return sorted(os.sched_getaffinity(0))


def _on_core(core: int, line: list[str]) -> list[str]:
    return ["taskset", "--cpu-list", str(core), *line]


def _machine(folder: Path, course: Course, people: Class) -> tuple[float, float]:
    """Submissions per minute of the floor, one and two at a time, without its start."""
    floor, few = Floor(folder, course), people.first(_WARM)
    count = len(people.submissions) - len(few.submissions)
    alone, both = (
        floor.grade(people, jobs).seconds - floor.grade(few, jobs).seconds for jobs in (1, 2)
    )
    return 60 * count / alone, 60 * count / both


if __name__ == "__main__":
    typer.run(main)
