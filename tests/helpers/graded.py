"""A graded class: its submissions, and the output of the commands."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from demo.classroom import LAB
from demo.incoming import write_submitted
from demo.submission import DemoSubmission
from gradekit.course import Course
from tests.helpers import warm_python


@dataclass(frozen=True)
class GradedClass:
    """A class after `lab grade`.

    Attributes:
        rows: the output of `lab grade --json`.
        said: its messages, on the error stream.
    """

    course: Course
    submissions: tuple[DemoSubmission, ...]
    rows: tuple[Mapping[str, Any], ...]
    said: str

    def row(self, student: str) -> Mapping[str, Any]:
        """One student's record."""
        return next(row for row in self.rows if row["student"] == student)


def grade_class(
    course: Course, submissions: Sequence[DemoSubmission], *options: str
) -> GradedClass:
    """Put the submissions into a built course and run `lab grade` on them, as a user would."""
    write_submitted(submissions, course.root, LAB)
    done = lab(course, "grade", LAB, "--json", *options)
    return GradedClass(course, tuple(submissions), tuple(json.loads(done.stdout)), done.stderr)


def lab(course: Course, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command `lab` in the course's folder."""
    return warm_python.run("gradekit.cli", *arguments, cwd=course.root)
