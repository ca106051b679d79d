"""``lab init``: a new course's folder, with the labs of this project and dates of its own.

Tested in tests/gradekit/build/test_new_course.py.
"""

from __future__ import annotations

import re
import shutil
from datetime import date, timedelta
from importlib.resources import files
from pathlib import Path
from string import Template

import gradekit
from gradekit.course import FILE_NAME, SOLVED, Course, load_course
from gradekit.errors import CourseError

_EXERCISES = "autograder/exercises"
_CONFIG = "nbgrader_config.py"
_STUDENTS = "students.example.csv"
_DATE = re.compile(r"^((?:# )?(?:release|due) = )(\d{4}-\d{2}-\d{2})", re.MULTILINE)
_NAME = re.compile(r'^name = ".*"$', re.MULTILINE)
_IGNORED = """\
# What a course makes while it runs, and what must not be public.
/build/
/release/
/submitted/
/withdrawn/
/students.csv
/autograded/
/feedback/
/exports/
/reports/
/results/
/exchange/
gradebook.db*
/solutions/*/
/labs/
"""
_EXAMPLE = """\
id,name,email,section
ada,Ada Lovelace,ada@example.org,Mon
grace,Grace Hopper,grace@example.org,Tue
"""


def new_course(target: Path, name: str, start: date) -> Course:
    """Write a course's folder: course.toml, the labs' sources and exercises, notes for staff.

    Args:
        target: a folder that does not exist yet, or is empty.
        name: the course's.
        start: the day on which its first lab is released; all other dates follow.

    Raises:
        CourseError: the folder holds something, or this installation has no labs to copy.
    """
    origin = Path(gradekit.__file__).resolve().parents[2]
    if not (origin / FILE_NAME).is_file():
        raise CourseError(
            f"lab init copies the labs of a clone of Attention Labs; {origin} is not one: run "
            "`pip install -e '.[staff]'` in a clone, and then lab init again"
        )
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise CourseError(f"{target} is not empty; name a new folder")
    text = _course_file((origin / FILE_NAME).read_text("utf-8"), name, start)
    target.mkdir(parents=True, exist_ok=True)
    (target / FILE_NAME).write_text(text, "utf-8")
    course = load_course(target)
    shutil.copy(origin / _CONFIG, target)
    (target / SOLVED).mkdir()
    for lab in course.labs:
        shutil.copy(load_course(origin).source(lab), target / SOLVED)
    shutil.copytree(
        origin / _EXERCISES, target / _EXERCISES, ignore=shutil.ignore_patterns("__pycache__")
    )
    (target / _STUDENTS).write_text(_EXAMPLE, "utf-8")
    (target / ".gitignore").write_text(_IGNORED, "utf-8")
    readme = files("gradekit.build").joinpath("templates", "course_readme.md").read_text("utf-8")
    first, last = course.labs[0], course.labs[-1]
    words = {"name": name, "first": first, "last": last, "students": _STUDENTS}
    (target / "README.md").write_text(Template(readme).substitute(words), "utf-8")
    return course


def _course_file(text: str, name: str, start: date) -> str:
    """This project's course.toml with another name, and all dates moved by the same days."""
    if '"' in name or "\\" in name or not name.isprintable() or not name.strip():
        raise CourseError(f"{name!r} cannot be a course's name; leave out quotes and backslashes")
    first = min(date.fromisoformat(found[1]) for found in _DATE.findall(text))
    moved = start - first
    text = _NAME.sub(lambda _: f'name = "{name}"', text, count=1)
    return _DATE.sub(lambda found: f"{found[1]}{_later(found[2], moved)}", text)


def _later(day: str, by: timedelta) -> str:
    return (date.fromisoformat(day) + by).isoformat()


def next_monday(today: date) -> date:
    """The Monday after this day."""
    return today + timedelta(days=7 - today.weekday())
