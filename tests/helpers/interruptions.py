"""A class that is graded undisturbed, and all that can disturb it."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from glob import glob
from pathlib import Path
from typing import Any

import psutil
import pytest

from gradekit.course import load_course
from gradekit.grading import grade, pool
from gradekit.grading.grade import Settings
from gradekit.grading.task import GradedSubmission
from gradekit.grading.view import progress_bar
from tests.helpers import tiny_class
from tests.helpers.tiny_class import LAB, autograded_of, gradebook_of, journal_of


@dataclass(frozen=True)
class Undisturbed:
    """A class that nothing happened to.

    Attributes:
        fresh: the course before anybody was graded.
        root: the same course afterwards.
        done: what the workers brought back, by student and digest.
        seconds: how long it took.
    """

    fresh: Path
    root: Path
    done: dict[tuple[str, str], GradedSubmission]
    seconds: float


def grade_undisturbed(root: Path) -> Undisturbed:
    """Make the class in the empty folder `root` and grade it."""
    tiny_class.write_course(root)
    tiny_class.write_class(root)
    grade.course_secret(root / "results")
    fresh = Path(shutil.copytree(root, root.with_name("fresh")))
    done, everything = {}, pool.run

    def recorded(*arguments: Any) -> Iterator[Any]:
        for task, result in everything(*arguments):
            done[task.submitted.student, task.submitted.digest] = result
            yield task, result

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pool, "run", recorded)
        summary, _ = run(root)
    assert summary.graded == 4
    assert not summary.broken_ours
    return Undisturbed(fresh, root, done, summary.seconds)


def run(root: Path, **settings):
    with progress_bar(quiet=True) as progress:
        summary = grade.grade_lab(load_course(root), LAB, Settings(1, **settings), progress)
    return summary, {row.student: row for row in summary.rows}


def same(root: Path, undisturbed: Undisturbed, note: str = "") -> None:
    """The same journal, gradebook and notebooks as undisturbed, and nothing beside them."""
    assert journal_of(root) == journal_of(undisturbed.root), note
    assert gradebook_of(root) == gradebook_of(undisturbed.root), note
    assert autograded_of(root) == autograded_of(undisturbed.root), note


def kill_and_go_on(undisturbed: Undisturbed, base: Path, kills: int, seed: int) -> None:
    """Kill `lab grade` at random moments until it was killed so often; then compare.

    Half of the moments are random times, half lie shortly after something was written.
    """
    choose, left, number = random.Random(seed), kills, 0
    length = undisturbed.seconds + 2
    while left:
        number += 1
        root = Path(shutil.copytree(undisturbed.fresh, base / f"course{number}"))
        while left:
            start, known = time.monotonic(), written(root)
            process = tiny_class.start_lab(root, "grade", LAB, "--jobs", "2")
            if left % 2:
                moment = start + choose.uniform(0, length)
                while process.poll() is None and time.monotonic() < moment:
                    time.sleep(0.005)
            else:
                for _ in range(choose.randint(1, 12)):
                    while process.poll() is None and written(root) == known:
                        time.sleep(0.0005)
                    known = written(root)
                time.sleep(choose.uniform(0, 0.03))
            finished = process.poll() is not None
            process.kill()
            process.communicate()
            if finished:
                length = time.monotonic() - start
                break
            left -= 1
        after = tiny_class.lab(root, "grade", LAB, "--jobs", "2")
        assert after.returncode == 0, (seed, after)
        same(root, undisturbed, f"seed {seed}, class {number}")
        left_behind = [str(path) for path in tiny_class.temporary(root).rglob("*")]
        assert not left_behind, f"seed {seed}: {left_behind}"
        assert not list(root.glob(".making*")), f"seed {seed}"
        twice = Counter(v["key"] for v in journal_of(root) if v["kind"] == "exercise")
        assert set(twice.values()) == {1}, f"seed {seed}"


def written(root: Path) -> tuple[tuple[str, int], ...]:
    """What changes as a class is graded."""
    sizes = []
    for pattern in ("results/*", "gradebook*", ".making*/*", "autograded/*/*/*"):
        for path in glob(str(root / pattern)):  # takes it that a folder goes away meanwhile
            with suppress(FileNotFoundError):
                sizes.append((path, os.stat(path).st_size))
    return tuple(sizes)


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """The kernel refuses to let any file of this process grow beyond `size` bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def empty_gradebook(root: Path, undisturbed: Undisturbed) -> None:
    """Spare nbgrader the seconds that it takes to make one."""
    shutil.copy(undisturbed.root / "gradebook.db", root)
    with closing(sqlite3.connect(root / "gradebook.db")) as book:
        for table in ("submitted_assignment", "submitted_notebook", "grade", "comment"):
            book.execute(f"DELETE FROM {table}")
        book.commit()


def length(undisturbed: Undisturbed, student: str) -> int:
    """The bytes of a student's lines in the journal."""
    lines = (undisturbed.root / "results" / f"{LAB}.jsonl").read_bytes().splitlines(keepends=True)
    mine = (line for line in lines if json.loads(line)["student"] == student)
    return sum(len(line) for line in mine if json.loads(line)["kind"] != "stored")


def other_writer(path: Path, seconds: float) -> threading.Thread:
    """Hold SQLite's lock from another connection for so long."""
    locked = threading.Event()

    def hold() -> None:
        with closing(sqlite3.connect(path)) as other:
            other.execute("BEGIN IMMEDIATE")
            locked.set()
            time.sleep(seconds)

    thread = threading.Thread(target=hold)
    thread.start()
    assert locked.wait(10)
    return thread


def wait_at_most(root: Path, seconds: float) -> None:
    url = f"sqlite:///{root / 'gradebook.db'}?timeout={seconds}"
    with (root / "nbgrader_config.py").open("a") as file:
        file.write(f"\nc.CourseDirectory.db_url = {url!r}\n")


@contextmanager
def replay_as(
    undisturbed: Undisturbed, root: Path, student: str, done: GradedSubmission | Exception
):
    """The student's present hand-in comes to `done`."""
    folder = root / "submitted" / student
    seen = next(h for h in grade.find_submissions(root, LAB, [student]) if h.student == folder.name)
    if isinstance(done, GradedSubmission):
        record = replace(done.record, student=student, digest=seen.digest)
        done = replace(done, record=record)
    undisturbed.done[student, seen.digest] = done  # type: ignore[assignment]
    try:
        yield
    finally:
        del undisturbed.done[student, seen.digest]


def stricter(undisturbed: Undisturbed, monkeypatch: pytest.MonkeyPatch, exercise: str) -> None:
    """From now on nobody earns anything in `exercise`."""
    played = pool.run

    def changed(*arguments):
        for task, done in played(*arguments):
            results = tuple(
                replace(result, checks=tuple(replace(c, earned=0.0) for c in result.checks))
                if result.exercise == exercise
                else result
                for result in done.results
            )
            yield task, replace(done, results=results)

    monkeypatch.setattr(pool, "run", changed)


class KillsForkServer:
    """Looks on, and kills the fork server as soon as the first hand-in is done."""

    def __init__(self) -> None:
        self.killed: list[int] = []

    def say(self, sentence):
        pass

    def begin(self, count):
        pass

    def advance(self, student):
        if self.killed:
            return
        for process in psutil.Process().children(recursive=True):
            # A process may end by itself, and those of a hand-in end with their fork server.
            with suppress(psutil.Error):
                if _is_fork_server(process):
                    process.kill()
                    self.killed.append(process.pid)


def _is_fork_server(process: psutil.Process) -> bool:
    return "gradekit.untrusted.forkserver" in process.cmdline() and process.name() != "bwrap"
