"""The submissions to measure with, and the course that they belong to."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from demo.classroom import LAB, material_of
from demo.comparison import compare, scores_in_book
from demo.course_folder import copy_course
from demo.crowd import crowd
from demo.honest import honest
from demo.incoming import write_submitted
from demo.submission import DemoSubmission
from gradekit.build.build import build_labs
from gradekit.course import Course, load_course
from gradekit.exercise.loader import CourseLabs
from gradekit.results.folder import journal_path

__all__ = ["LAB", "Class", "assert_right", "new_course", "some_class", "submit"]


@dataclass(frozen=True)
class Class:
    """A class's submissions for lab 1.

    Attributes:
        notebook: the name of the notebook's file.
    """

    submissions: tuple[DemoSubmission, ...]
    notebook: str

    def first(self, count: int) -> Class:
        """A smaller class of the same mixture: the first `count` submissions."""
        return replace(self, submissions=self.submissions[:count])


def some_class(course: Course, count: int) -> Class:
    """`count` students: right in four styles, each known mistake of two exercises, half done, …"""
    material = material_of(course)
    return Class(tuple(crowd(list(honest(material)), count, material.name)), material.name)


def new_course(folder: Path) -> Course:
    """The repository's course in a new folder, with lab 1 built."""
    course = load_course(copy_course(folder))
    build_labs(CourseLabs(course), [LAB])
    return course


def submit(course: Course, people: Class) -> None:
    """Put the submissions of `people` into ``submitted/``, and remove everything of earlier ones.

    The course's secret stays, as it does from week to week.
    """
    for name in ("submitted", "autograded"):
        shutil.rmtree(course.root / name, ignore_errors=True)
    for path in (journal_path(course, LAB), course.root / "gradebook.db"):
        path.unlink(missing_ok=True)
    write_submitted(people.submissions, course.root, LAB)


def assert_right(course: Course, people: Class, rows: Iterable[Mapping[str, Any]]) -> None:
    """Check that every student got the expected mark: speed alone is worth nothing.

    Args:
        rows: the output of ``lab grade --json``.

    Raises:
        SystemExit: a student did not.
    """
    wrong = [
        f"{result.submission.student} ({result.submission.why}): {', '.join(result.differences)}"
        for result in compare(people.submissions, rows, scores_in_book(course, LAB))
        if not result.ok
    ]
    if wrong:
        sys.exit("\n".join(["These students did not get the expected mark:", *wrong]))
