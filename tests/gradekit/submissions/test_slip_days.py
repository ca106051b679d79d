"""Slip days are used in the order of the labs, as the hand-ins in submitted/ say."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from gradekit.course import Course, load_course
from gradekit.late import Lateness
from gradekit.submissions.folder import format_timestamp
from gradekit.submissions.slip_days import lateness_now

LABS = """\
[course]
name = "A course"

[late]
slip_days = 4

"""
LAB = """\
[[lab]]
id = "lab0{n}"
title = "Lab {n}"
release = 2026-09-0{n}
due = 2026-10-0{n}
points = {points}

"""


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """Three labs, one of them without points, and four slip days."""
    labs = [LAB.format(n=n, points=0 if n == 1 else 100) for n in (1, 2, 3, 4)]
    (tmp_path / "course.toml").write_text(LABS + "".join(labs))
    return load_course(tmp_path)


def late(course: Course, lab: str, days: float) -> Lateness:
    return lateness_now(course, lab, "ada", course.lab(lab).due + timedelta(days=days))


def hand_in(course: Course, lab: str, days: float) -> None:
    folder = course.root / "submitted" / "ada" / lab
    folder.mkdir(parents=True)
    moment = course.lab(lab).due + timedelta(days=days)
    (folder / "timestamp.txt").write_text(format_timestamp(moment))


def test_an_earlier_lab_uses_them_first(course: Course) -> None:
    assert late(course, "lab03", 3).slip_left == 1
    hand_in(course, "lab02", 1.5)
    assert late(course, "lab02", 1.5).slip_left == 2
    found = late(course, "lab03", 3)
    assert (found.slipped, found.slip_left, found.percent) == (2, 0, 10)
    hand_in(course, "lab03", 3)
    assert late(course, "lab04", 1).percent == 10
    assert late(course, "lab03", 3) == found, "a later or the same lab uses none"


def test_what_was_on_time_too_late_or_without_points_uses_none(course: Course) -> None:
    hand_in(course, "lab01", 2)
    hand_in(course, "lab02", -1)
    hand_in(course, "lab03", 9)
    assert late(course, "lab04", 1).slip_left == 3


def test_an_unknown_time_is_on_time(course: Course) -> None:
    found = lateness_now(course, "lab02", "ada", None)
    assert (found.is_late, found.slip_left) == (False, 4)
    (course.root / "submitted" / "ada" / "lab02").mkdir(parents=True)
    assert late(course, "lab03", 1).slip_left == 3


def test_without_slip_days_no_folder_is_read(course: Course, monkeypatch) -> None:
    text = (course.root / "course.toml").read_text().replace("slip_days = 4", "")
    (course.root / "course.toml").write_text(text)
    monkeypatch.setattr("gradekit.submissions.slip_days.submission_time", None)
    assert late(load_course(course.root), "lab03", 1).sentence.endswith(
        "10 % of the points are taken off."
    )
