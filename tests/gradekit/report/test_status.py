"""`lab status`: every lab on one screen, and what waits."""

from __future__ import annotations

import io
import json
import shutil
from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console

from gradekit.course import Course, load_course
from gradekit.gradebook.address import address_of
from gradekit.report.status import LabStatus, Phase, status_of
from gradekit.report.status_view import show_status
from gradekit.results.folder import journal_path
from gradekit.results.journal import Journal
from gradekit.results.records import State, SubmissionRecord
from tests.gradekit.report.test_commands import cpu_of_children, lab
from tests.helpers.gradebook import give_manual_mark
from tests.helpers.planted_class import LAB, QUESTION

SECOND = """
[[lab]]
id = "lab02"
title = "Translation"
release = 2026-09-21T08:00:00
due = 2026-09-25
"""
DUE = datetime(2026, 9, 18, 21, 59, 59, tzinfo=UTC)
MOST_SECONDS = 1.0


@pytest.fixture
def course(small_class: Course) -> Course:
    """Two labs; in the first, two of four handed in and one more waits for grading."""
    root = small_class.root
    with (root / "course.toml").open("a") as file:
        file.write(SECOND)
    for student in ("s000", "s001", "s002"):
        (root / "submitted" / student / LAB).mkdir(parents=True)
    (root / "feedback" / "s000" / LAB).mkdir(parents=True)
    (root / "release" / LAB).mkdir(parents=True)
    give_manual_mark(address_of(small_class), "s000", QUESTION, 3.0)
    return load_course(root)


def first(course: Course, now: datetime = DUE) -> LabStatus:
    return status_of(course, now)[0]


def test_counts(course: Course) -> None:
    one, two = status_of(course, DUE)
    assert (one.students, one.collected, one.graded, one.to_grade) == (4, 3, 2, 1)
    assert (one.to_mark, one.pages, one.broken, one.released) == (1, 1, 0, True)
    assert (two.collected, two.graded, two.to_mark, two.pages, two.released) == (0, 0, 0, 0, False)
    assert one.to_do == (
        "1 hand-in to grade: lab grade lab01",
        "1 hand-in to mark manually: lab mark lab01",
        "1 hand-in without a page of feedback: lab feedback lab01",
    )
    assert two.to_do == ()


@pytest.mark.parametrize(
    ("now", "phase"),
    [
        (datetime(2026, 9, 14, 5, 59, tzinfo=UTC), Phase.COMING),
        (datetime(2026, 9, 14, 6, 0, tzinfo=UTC), Phase.OPEN),
        (DUE, Phase.OPEN),
        (DUE + timedelta(seconds=1), Phase.LATE),
        (DUE + timedelta(days=2), Phase.LATE),
        (DUE + timedelta(days=2, seconds=1), Phase.CLOSED),
    ],
)
def test_the_calendar(course: Course, now: datetime, phase: Phase) -> None:
    assert first(course, now).phase is phase


def test_what_waits(course: Course) -> None:
    with Journal(journal_path(course, LAB)) as journal:
        journal.append([SubmissionRecord("s001", LAB, "digest", State.OURS, "why")])
    assert "the grader failed on 1 hand-in: lab grade lab01 says why" in first(course).to_do
    shutil.rmtree(course.root / "release")
    assert "no bundle was made: lab release lab01" in first(course).to_do
    shutil.rmtree(course.root / "submitted")
    after = first(course, DUE + timedelta(days=9)).to_do
    assert "nothing was collected: lab collect lab01 FILE" in after


def printed(course: Course, now: datetime) -> str:
    console = Console(width=80, record=True, file=io.StringIO())
    show_status(status_of(course, now), console)
    text = console.export_text()
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
    return text


def test_one_screen(course: Course) -> None:
    lines = [" ".join(line.split()) for line in printed(course, DUE).splitlines()]
    assert "lab01 open Fri 18 Sep 23:59 3 of 4 2 1 1" in lines
    assert "lab02 not released Fri 25 Sep 23:59" in lines
    assert "lab01: 1 hand-in to mark manually: lab mark lab01" in lines
    assert "Due dates are in Europe/Zurich." in lines
    shutil.rmtree(course.root / "submitted")
    (course.root / "gradebook.db").unlink()
    assert "Nothing waits." in printed(course, DUE)


def test_without_a_list_of_students(course: Course) -> None:
    (course.root / "students.csv").unlink()
    assert first(course).students is None


def test_json(course: Course) -> None:
    done = lab(course.root, "status", "--json")
    one, two = json.loads(done.stdout)
    assert (one["lab"], one["collected"], one["graded"], one["due"]) == (
        LAB, 3, 2, "2026-09-18T23:59:59+02:00",
    )  # fmt: skip
    assert two["phase"] in list(Phase)


def test_300_students_take_less_than_a_second(big_class: Course) -> None:
    start = cpu_of_children()
    done = lab(big_class.root, "status")
    assert done.returncode == 0, done.stderr
    assert cpu_of_children() - start < MOST_SECONDS
