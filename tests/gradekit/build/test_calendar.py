"""Which bundles need answers of a lab that is still open, and what is said about it."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from gradekit.build.calendar import (
    closing_later,
    conflicts,
    open_labs,
    refuse_early,
    with_date_passed,
)
from gradekit.course import Course, load_course
from gradekit.errors import CourseError
from gradekit.exercise.loader import CourseLabs
from tests.helpers.three_weeks import write_three_weeks

# Lab 2's basic_self_attention uses the softmax of lab 1.
NEEDS = (
    "its bundle of Mon 21 Sep 2026, 08:00 needs softmax of lab01, which can earn points until "
    '{until}; {change} in course.toml, or write solutions = "known" for lab01 there'
)
EXTENSION = '\n[[extension]]\nstudent = "ada"\nlab = "lab01"\ndays = 2\n'


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return write_three_weeks(tmp_path)


def changed(course: Course, before: str, after: str) -> Course:
    """The course with another course.toml."""
    path = course.root / "course.toml"
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after, 1))
    return load_course(course.root)


def sentences(course: Course, lab: str) -> list[str]:
    return [conflict.sentence for conflict in conflicts(CourseLabs(course), lab)]


def moment(day: int, hour: int) -> datetime:
    return datetime(2026, 9, day, hour, tzinfo=ZoneInfo("UTC"))


def test_a_lab_that_has_closed_is_no_conflict(course: Course) -> None:
    assert open_labs(course, "lab02") == []
    assert sentences(course, "lab02") == []


def test_late_days_make_a_conflict(course: Course) -> None:
    late = changed(course, "last_day = 0", "last_day = 2")
    assert open_labs(late, "lab02") == ["lab01"]
    until, change = "Tue 22 Sep 2026, 23:59", "lower last_day or move a date"
    assert sentences(late, "lab02") == [NEEDS.format(until=until, change=change)]


def test_an_extension_makes_a_conflict(course: Course) -> None:
    longer = changed(course, "due = 2026-10-04T23:59:00", f"due = 2026-10-04{EXTENSION}")
    until, change = "Tue 22 Sep 2026, 23:59", "shorten the extension"
    assert sentences(longer, "lab02") == [NEEDS.format(until=until, change=change)]


def test_what_a_bundle_does_not_need_is_left_out_without_a_word(course: Course) -> None:
    (course.root / "autograder/exercises/lab02/basic_self_attention.py").unlink()
    path = course.root / "solutions" / "lab02_x.py"
    text, _, _ = path.read_text().partition('# %% exercise="basic')
    path.write_text(text)
    late = changed(course, "last_day = 0", "last_day = 2")
    assert open_labs(late, "lab02") == ["lab01"]
    assert sentences(late, "lab02") == []


def test_a_cell_that_uses_an_answer_needs_it(course: Course) -> None:
    late = changed(course, "last_day = 0", "last_day = 9")
    path = course.root / "solutions" / "lab02_x.py"
    cell = "# %%\n%matplotlib inline\nfrom attnlab.softmax import logsumexp\nprint(logsumexp(1))\n"
    path.write_text(path.read_text() + cell)
    assert "needs logsumexp and softmax of lab01" in sentences(late, "lab02")[0]


def test_answers_that_are_known_are_no_conflict(course: Course) -> None:
    late = changed(course, "last_day = 0", "last_day = 2")
    known = changed(late, 'title = "One"', 'title = "One"\nsolutions = "known"')
    assert open_labs(known, "lab02") == []
    assert sentences(known, "lab02") == []


def test_before_its_release_a_lab_is_refused(course: Course) -> None:
    refuse_early(course, "lab02", moment(21, 8))
    with pytest.raises(CourseError, match="release is on Mon 21 Sep 2026, 08:00; add --early"):
        refuse_early(course, "lab02", moment(21, 7))


def test_a_bundle_made_early_may_hold_answers_that_still_count(course: Course) -> None:
    assert closing_later(course, "lab02", moment(20, 12)) == ["lab01"]
    assert closing_later(course, "lab02", moment(21, 8)) == []


def test_the_labs_whose_date_has_passed(course: Course) -> None:
    labs = course.labs
    assert with_date_passed(course, labs, moment(21, 8)) == ["lab01", "lab02"]
    assert with_date_passed(course, labs, moment(21, 8), solutions=True) == ["lab01"]
    with pytest.raises(CourseError, match="no lab has been released yet"):
        with_date_passed(course, labs, moment(1, 0))
    with pytest.raises(CourseError, match="no lab has closed yet"):
        with_date_passed(course, labs, moment(14, 12), solutions=True)
