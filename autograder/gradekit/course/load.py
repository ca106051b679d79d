"""Finds and reads course.toml. Tested in tests/gradekit/course/test_course.py."""

from __future__ import annotations

import tomllib
from pathlib import Path

from pydantic import ValidationError

from gradekit.course.course import Course
from gradekit.course.extensions import resolve
from gradekit.course.tables import FILE_NAME, CourseFile
from gradekit.course.wrong_values import place, sentence_of
from gradekit.errors import CourseError
from gradekit.roster.students import Roster, load_roster


def find_root(start: Path) -> Path:
    """The nearest folder from `start` upwards that contains course.toml.

    Raises:
        CourseError: there is none.
    """
    for folder in (start, *start.parents):
        if (folder / FILE_NAME).is_file():
            return folder
    raise CourseError(f"no {FILE_NAME} in {start} or above; change into the course's folder")


def load_course(root: Path) -> Course:
    """Read ``root/course.toml``.

    Raises:
        CourseError: it is missing, is not TOML, or has a wrong value.
        RosterError: it has extensions, and students.csv is wrong.
    """
    path = root / FILE_NAME
    try:
        text = path.read_text("utf-8")
        table = tomllib.loads(text)
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CourseError(
            f"{path} is not valid TOML: {error}; look at the dates, quotes and brackets there"
        ) from error
    try:
        values = CourseFile.model_validate(table)
    except ValidationError as error:
        raise CourseError(sentence_of(text, error)) from error
    places = [place(text, ("extension", number)) for number in range(len(values.extension))]
    # Without an extension nobody is named, and then no verb depends on students.csv.
    roster = load_roster(root) if values.extension else Roster()
    extensions = resolve(values, roster, places)
    return Course(root=root.resolve(), values=values, extensions=extensions)
