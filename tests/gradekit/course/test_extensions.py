"""Extensions: for one, several, a section; in one lab or all; until a date, or for days."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradekit.course import Course, load_course
from gradekit.errors import CourseError, RosterError

COURSE = """\
[course]
name = "A course"
timezone = "Europe/Zurich"

[[lab]]
id = "lab01"
title = "One"
release = 2026-10-12
due = 2026-10-18

[[lab]]
id = "lab02"
title = "Two"
release = 2026-10-19
due = 2026-10-24

[[extension]]
"""
STUDENTS = "id,name,section\nada,Ada,A\nbob,Bob,B\ncyd,Cyd,B\n"


def course(root: Path, *extensions: str, students: str | None = STUDENTS) -> Course:
    """The course with these [[extension]] tables."""
    (root / "course.toml").write_text(COURSE + "\n[[extension]]\n".join(extensions))
    if students is not None:
        (root / "students.csv").write_text(students)
    return load_course(root)


def due(made: Course, student: str) -> list[str]:
    """A student's due dates, without the year."""
    return [f"{made.due(lab, student):%m-%d %H:%M}" for lab in made.labs]


NORMAL = ["10-18 23:59", "10-24 23:59"]


@pytest.mark.parametrize(
    ("extension", "ada", "bob"),
    [
        ('student = "ada"\nlab = "lab01"\ndays = 2', ["10-20 23:59", NORMAL[1]], NORMAL),
        # The clocks change in the night to 25 October: the time of day stays.
        ('students = ["ada", "bob"]\nlabs = "all"\ndays = 1',
         ["10-19 23:59", "10-25 23:59"], ["10-19 23:59", "10-25 23:59"]),
        ('section = "B"\nlab = "lab02"\ndue = 2026-10-26', NORMAL, [NORMAL[0], "10-26 23:59"]),
        ('section = "B"\nlabs = ["lab01"]\ndue = 2026-10-19T12:00:00\nreason = "a fire alarm"',
         NORMAL, ["10-19 12:00", NORMAL[1]]),
    ],
)  # fmt: skip
def test_whose_date_moves(tmp_path: Path, extension: str, ada: list[str], bob: list[str]) -> None:
    made = course(tmp_path, extension)
    assert due(made, "ada") == ada
    assert due(made, "bob") == bob


def test_the_later_of_a_sections_and_a_students_own_date_counts(tmp_path: Path) -> None:
    section = 'section = "B"\nlab = "lab01"\ndays = 2'
    for days, date in ((1, "10-20"), (4, "10-22")):
        own = f'student = "bob"\nlab = "lab01"\ndays = {days}'
        for order in ((section, own), (own, section)):
            made = course(tmp_path, *order)
            assert due(made, "bob")[0] == f"{date} 23:59"
            assert due(made, "cyd")[0] == "10-20 23:59"


def test_a_course_with_extensions_can_be_a_key(tmp_path: Path) -> None:
    made = course(tmp_path, 'student = "ada"\nlab = "lab01"\ndays = 3')
    assert {made: 1}[load_course(tmp_path)] == 1


def test_the_longest_extension_is_the_labs_last_date(tmp_path: Path) -> None:
    made = course(tmp_path, 'student = "ada"\nlab = "lab01"\ndays = 3')
    assert made.last_due("lab01") == made.due("lab01", "ada")
    assert made.last_due("lab02") == made.lab("lab02").due


TWICE = 'student = "ada"\nlab = "lab01"\ndays = 2'


@pytest.mark.parametrize(
    ("extensions", "sentence"),
    [
        ((TWICE, TWICE), "line 21: ada has an extension for lab01 already (course.toml, line 17)"),
        (('students = ["ada", "ada"]\nlab = "lab01"\ndays = 2',), "keep one of the two"),
        (('section = "B"\nlab = "lab01"\ndays = 2', 'section = "B"\nlabs = "all"\ndays = 9'),
         "line 21: section B has an extension for lab01 already"),
        (('student = "ada"\nlab = "lab01"\ndue = 2026-10-17',),
         "line 17: the extension of ada for lab01 ends on Sat 17 Oct 2026, 23:59, and the lab is "
         "due on Sun 18 Oct 2026, 23:59; write a later date, or days = 2"),
        (('student = "ada"\nlab = "lab01"\ndue = 2026-10-18',), "write a later date"),
        (('student = "ada"\nlabs = ["lab01", "lab09"]\ndays = 2',),
         "line 17: an extension names lab lab09, which has no [[lab]] table; write one of lab01"),
        (('student = "ada"\nlab = "lab01"\ndays = -2',), "line 20: extension.#1.days"),
    ],
)  # fmt: skip
def test_an_extension_that_contradicts_something_is_refused(
    tmp_path: Path, extensions: tuple[str, ...], sentence: str
) -> None:
    with pytest.raises(CourseError) as caught:
        course(tmp_path, *extensions)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("extension", "sentence"),
    [
        ('student = "adaa"\nlab = "lab01"\ndays = 2',
         "course.toml, line 17: students.csv has no student 'adaa'; did you mean ada?"),
        ('section = "C"\nlab = "lab01"\ndays = 2', "no section 'C'; its sections are: A, B"),
    ],
)  # fmt: skip
def test_nobody_is_told_once_a_date_is_asked_for(
    tmp_path: Path, extension: str, sentence: str
) -> None:
    made = course(tmp_path, extension)  # so that `lab roster import` can add the student
    for ask in (lambda: made.due("lab02", "bob"), lambda: made.last_due("lab02")):
        with pytest.raises(CourseError) as caught:
            ask()
        assert sentence in str(caught.value)


def test_without_a_roster_every_student_is_accepted_and_no_section(tmp_path: Path) -> None:
    made = course(tmp_path, 'student = "zoe"\nlab = "lab01"\ndays = 2', students=None)
    assert due(made, "zoe")[0] == "10-20 23:59"
    made = course(tmp_path, 'section = "B"\nlab = "lab01"\ndays = 2', students=None)
    with pytest.raises(CourseError, match=r"line 17: a section needs students\.csv"):
        made.due("lab01", "bob")


def test_a_wrong_roster_matters_only_if_there_are_extensions(tmp_path: Path) -> None:
    with pytest.raises(RosterError):
        course(tmp_path, TWICE, students="id\nada\n")
    (tmp_path / "course.toml").write_text(COURSE.replace("[[extension]]", ""))
    assert load_course(tmp_path).labs == ("lab01", "lab02")
