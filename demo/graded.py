"""A graded class: its submissions, and the output of the commands."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from demo.submission import DemoSubmission
from gradekit.course import Course


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


def grade_class(course: Course, submissions: Sequence[DemoSubmission]) -> GradedClass:
    """Put the submissions into a built course and run `lab grade` on them, as a user would."""
    from demo.classroom import LAB
    from demo.incoming import write_submitted

    write_submitted(submissions, course.root, LAB)
    done = lab(course, "grade", LAB, "--json")
    return GradedClass(course, tuple(submissions), tuple(json.loads(done.stdout)), done.stderr)


def lab(course: Course, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command `lab` in the course's folder."""
    line = [sys.executable, "-m", "gradekit.cli", *arguments]
    return subprocess.run(line, cwd=course.root, capture_output=True, text=True, check=False)
