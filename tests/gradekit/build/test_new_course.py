"""`lab init`: a folder in which everything works, with dates of its own."""

from __future__ import annotations

import shutil
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from gradekit.build.new_course import new_course, next_monday
from gradekit.course import Course, load_course
from gradekit.errors import CourseError
from gradekit.exercise.loader import load_lab
from tests.helpers.small_course import PROJECT

START = date(2027, 2, 15)


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return new_course(tmp_path_factory.mktemp("init") / "mine", "Attention, again", START)


def test_all_labs_are_there_with_their_exercises(course: Course) -> None:
    ours = load_course(PROJECT)
    assert course.labs == ours.labs
    assert course.values.course.name == "Attention, again"
    for lab in course.labs:
        assert course.source(lab).read_bytes() == ours.source(lab).read_bytes()
    assert load_lab(course, "lab01").points == load_lab(ours, "lab01").points


def test_dates_are_moved_together(course: Course) -> None:
    ours = load_course(PROJECT)
    assert course.lab("lab00").release.date() == START
    moved = START - ours.lab("lab00").release.date()
    for lab in course.labs:
        for name in ("release", "due"):
            before, now = (getattr(one.lab(lab), name) for one in (ours, course))
            assert now.date() - before.date() == moved
            assert now.time() == before.time()


def test_the_example_is_a_list_of_students_and_no_one_takes_the_course_yet(course: Course) -> None:
    assert not (course.root / "students.csv").exists()
    shutil.copy(course.root / "students.example.csv", course.root / "students.csv")
    done = lab(course.root, "roster")
    assert "2 students; sections: Mon 1, Tue 1" in done.stdout


def test_what_students_must_not_see_is_not_committed(course: Course) -> None:
    ignored = (course.root / ".gitignore").read_text().splitlines()
    assert {"/students.csv", "/submitted/", "/results/", "gradebook.db*"} <= set(ignored)


def test_notes_for_staff_name_its_labs_and_commands_that_exist(course: Course) -> None:
    text = (course.root / "README.md").read_text()
    assert text.startswith("# Attention, again\n")
    assert "lab collect lab00 " in text
    known = lab(course.root, "--help").stdout
    for line in text.split("```")[1].strip().splitlines():
        assert f" {line.split()[1]} " in known


@pytest.mark.parametrize(("day", "monday"), [(15, 22), (16, 22), (21, 22), (22, 29)])
def test_the_next_monday(day: int, monday: int) -> None:
    assert next_monday(date(2027, 3, day)) == date(2027, 3, monday)


@pytest.mark.parametrize("name", ['A "course"', "A\ncourse", "", "back\\slash"])
def test_a_name_that_toml_cannot_hold_is_one_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(CourseError, match="cannot be a course's name"):
        new_course(tmp_path / "mine", name, START)
    assert not (tmp_path / "mine").exists()


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "course.toml").write_text("mine")
    done = lab(tmp_path, "init", ".")
    assert done.returncode == 1
    assert done.stderr == "lab: . is not empty; name a new folder\n"
    assert (tmp_path / "course.toml").read_text() == "mine"


def test_the_command(tmp_path: Path) -> None:
    done = lab(tmp_path, "init", "mine", "--start", "2027-02-15", "--name", "Mine")
    assert done.returncode == 0, done.stderr
    assert "the first released on Mon 15 Feb 2027" in done.stdout
    assert lab(tmp_path / "mine", "status").returncode == 0


def test_the_version(tmp_path: Path) -> None:
    import attnlab

    assert lab(tmp_path, "--version").stdout == f"Attention Labs {attnlab.__version__}\n"


def lab(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gradekit.cli", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
    )
