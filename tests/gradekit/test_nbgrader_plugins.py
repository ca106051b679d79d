"""nbgrader's own commands, with this course's nbgrader_config.py, come to what `lab grade` does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import SaveAutoGrades
from traitlets.config import Config, LoggingConfigurable

from demo.classroom import room_of
from demo.course_folder import SMALL_LIMITS, copy_course
from demo.notebook import code
from gradekit import grade, nbgrader_plugins
from gradekit.course import Course, load_course
from gradekit.entries import Entry, address_of
from gradekit.grade_view import progress
from gradekit.gradebook import Book
from gradekit.journal import Journal
from gradekit.marks import Marks
from gradekit.records import State
from gradekit.submission import SUBMITTED
from gradekit.work import grader_of

LAB, NAME = "lab01", "lab01_softmax"
IN_TIME, LATE = "2026-09-20 20:00:00 UTC", "2026-09-22 08:00:00 UTC"
WRONG = "def softmax(x, dim=-1):\n    return x.exp() / x.exp().sum(dim, keepdim=True)\n"
SCRIPT = "from IPython.display import HTML\nHTML('<script>PWN()</script>')"


def hand_in(course: Course, student: str, data: bytes, stamp: str = IN_TIME) -> None:
    folder = course.root / SUBMITTED / student / LAB
    folder.mkdir(parents=True)
    (folder / f"{NAME}.ipynb").write_bytes(data)
    (folder / "timestamp.txt").write_text(stamp)


def hand_in_all(course: Course) -> None:
    room = room_of(course)
    solved, released = room.solved, room.released
    softmax = released.answer_at("softmax")
    some = released.with_source(softmax, WRONG)
    bare = solved.changed(lambda cell: {**cell, "metadata": {}})
    words = next(some.free_text())
    wordy = some.with_source(words, f"{some.source(words)}\n\nBecause infinity is no number.")
    hand_in(course, "bare", bare.bytes())
    hand_in(course, "broken", b'{"cells": [')
    hand_in(course, "late", wordy.appended(code(SCRIPT)).bytes(), LATE)


def nbgrader(course: Course, *arguments: str) -> str:
    environment = {
        **os.environ, "HOME": str(course.root / "home"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    run = subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments], cwd=course.root, env=environment,
        capture_output=True, text=True, check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stderr


def marks(course: Course) -> dict[str, Marks]:
    with Book(address_of(course)) as book:
        return book.marks(LAB)


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A class that ``nbgrader autograde`` graded."""
    root = tmp_path_factory.mktemp("nbgrader") / "course"
    course = load_course(copy_course(root, SMALL_LIMITS))
    hand_in_all(course)
    nbgrader(course, "generate_assignment", LAB, "--force")
    nbgrader(course, "autograde", LAB)
    return course


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """The same class, graded by ``lab grade``."""
    root = tmp_path_factory.mktemp("ours") / "course"
    course = load_course(copy_course(root, SMALL_LIMITS))
    hand_in_all(course)
    with progress(quiet=True) as watch:
        grade.grade(course, LAB, grade.Settings(jobs=1), watch)
    return course


def test_both_ways_come_to_the_same_gradebook(graded: Course, ours: Course) -> None:
    theirs = marks(graded)
    assert theirs == marks(ours)
    assert {name: given.is_complete for name, given in theirs.items()} == {
        "bare": False, "broken": True, "late": False,
    }
    assert theirs["broken"].points == 0
    assert theirs["late"].penalty == round(theirs["late"].points * 0.2, 2) > 0
    assert theirs["bare"].points == sum(
        seat.points for seat in grader(graded).released.tests
    )


def grader(course: Course) -> Any:
    secret = grade.course_secret(course.root / grade.RESULTS)
    return grader_of(grade.GraderSpec(course, LAB, "bubblewrap", secret))


def test_formgrader_finds_a_harmless_notebook_for_everyone(graded: Course) -> None:
    for student in marks(graded):
        path = graded.root / "autograded" / student / LAB / f"{NAME}.ipynb"
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        outputs = json.dumps([cell.get("outputs") for cell in notebook.cells])
        assert "<script" not in outputs
        assert outputs.count(" points</b>") == (0 if student == "broken" else 10)
    first = nbformat.read(graded.root / f"autograded/broken/{LAB}/{NAME}.ipynb", 4).cells[0]
    assert "is damaged" in first.source


def test_lab_grade_has_nothing_left_to_do(graded: Course) -> None:
    with progress(quiet=True) as watch:
        outcome = grade.grade(graded, LAB, grade.Settings(jobs=1), watch)
    assert outcome.graded == 0
    assert {row.student: str(row.state) for row in outcome.rows} == {
        "bare": "graded", "broken": "broken: theirs", "late": "late",
    }


def test_generate_feedback_writes_our_page(graded: Course) -> None:
    nbgrader(graded, "generate_feedback", LAB)
    page = (graded.root / "feedback" / "late" / LAB / f"{NAME}.html").read_text("utf-8")
    assert "Handed in 2 days late" in page
    assert "Because infinity is no number." in page


class Command(LoggingConfigurable):  # type: ignore[misc]
    """Stands for an nbgrader command: what its plugins ask of it is the course's folders."""

    def __init__(self, course: Course) -> None:
        super().__init__(config=Config())
        self.coursedir = CourseDirectory(config=Config(CourseDirectory={"root": str(course.root)}))


@pytest.fixture
def command(course_copy: Course) -> tuple[Command, dict[str, Any]]:
    hand_in(course_copy, "ada", room_of(course_copy).solved.bytes())
    place = {
        "student": "ada", "assignment": LAB, "notebook": NAME,
        "db_url": address_of(course_copy).url,
    }
    with Book(address_of(course_copy)) as book:
        book.register(LAB, grader(course_copy).released, None)
        full = {seat.exercise: seat.points for seat in grader(course_copy).released.tests}
        book.write(Entry("ada", LAB, None, 0.0, full, {"explain": "digest"}, 0.0))
    return Command(course_copy), {"nbgrader": place}


def test_where_we_fail_nbgrader_shows_no_score(
    command: tuple[Command, dict[str, Any]], course_copy: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    parent, resources = command

    def fail(task: Any) -> Any:
        raise MemoryError("the machine fell")

    monkeypatch.setattr(nbgrader_plugins, "grade_one", fail)
    notebook, _ = nbgrader_plugins.SandboxExecute(parent=parent).preprocess(None, resources)
    assert "our fault" in notebook.cells[0].source
    SaveAutoGrades(parent=parent).preprocess(notebook, resources)
    assert marks(course_copy)["ada"].marks["check_softmax"].auto == 0
    nbgrader_plugins.FinishEntry(parent=parent).preprocess(notebook, resources)
    given = marks(course_copy)["ada"]
    assert not any(mark.is_known for mark in given.marks.values())
    with Journal(course_copy.root / "results" / f"{LAB}.jsonl") as journal:
        (record,) = journal.submissions
        assert record.state is State.OURS
    log = (course_copy.root / "results" / f"{LAB}.failures.log").read_text()
    assert "MemoryError: the machine fell" in log


def test_the_late_rule_is_the_courses(course_copy: Course) -> None:
    rule = nbgrader_plugins.CourseLateRule(parent=Command(course_copy))
    assert rule.late_submission_penalty("ada", 50.0, 60.0) is None
    assert rule.late_submission_penalty("ada", 50.0, 3600.0) == 5.0
    assert rule.late_submission_penalty("ada", 50.0, 90 * 86400.0) == 50.0
