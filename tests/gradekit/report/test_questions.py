"""What is said of free-text questions: how many wait, and what each marker gave."""

from __future__ import annotations

from pathlib import Path

from gradekit.course import Course
from gradekit.gradebook.address import address_of
from gradekit.marking.history import GivenMark, append
from gradekit.report.class_results import read_class
from gradekit.report.page import render
from gradekit.report.questions import Marker, questions_of
from gradekit.report.report import make_report
from tests.gradekit.report.conftest import NOW
from tests.helpers.gradebook import give_manual_mark
from tests.helpers.planted_class import LAB, QUESTION, write_class

MARKS = {"s000": ("Kim", 3.0), "s001": ("Kim", 2.0), "s002": ("Lee", 1.0), "s003": ("Lee", 4.0)}


def marked(tmp_path: Path) -> Course:
    """Kim gave 3 and 2, Lee 1 and 4; the 4 became a 0 elsewhere; one answer waits."""
    course = write_class(tmp_path / "course", 7, ())
    for student, (marker, points) in MARKS.items():
        now = 0.0 if points == 4.0 else points
        give_manual_mark(address_of(course), student, QUESTION, now)
        append(course, LAB, GivenMark(student, QUESTION, points, "", (), marker))
    return course


def test_the_mean_of_each_marker(tmp_path: Path) -> None:
    course = marked(tmp_path)
    (question,) = questions_of(read_class(course, LAB))
    assert question.markers == (Marker("Kim", 2, 2.5), Marker("Lee", 1, 1.0), Marker("", 1, 0.0))
    assert (question.waiting, question.marks) == (1, (0.0, 1.0, 2.0, 3.0))
    html = render(make_report(course, LAB, NOW))
    assert all(f"marked by {name}" in html for name in ("Kim", "Lee", "another TA"))


def test_without_names_nothing_is_said(tmp_path: Path) -> None:
    course = write_class(tmp_path / "course", 4, ())
    give_manual_mark(address_of(course), "s000", QUESTION, 3.0)
    (question,) = questions_of(read_class(course, LAB))
    assert question.markers == ()
    assert "marked by" not in render(make_report(course, LAB, NOW))
