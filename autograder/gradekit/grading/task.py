"""The messages to and from a worker process, as values.

Tested in tests/gradekit/grading/test_grade.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gradekit.course import Course
from gradekit.results.records import ExerciseResult, SubmissionRecord
from gradekit.submissions.folder import SubmittedFiles


@dataclass(frozen=True)
class GraderSpec:
    """Everything a worker needs to make a grader of its own.

    Attributes:
        level: the confinement of student code: bubblewrap, landlock or none; or auto, the strongest
            one of the machine that grades.
        secret: the course's own bytes, which make hidden inputs unguessable.
    """

    course: Course
    lab: str
    level: str
    secret: bytes


@dataclass(frozen=True)
class GradingTask:
    """A submission to grade.

    Attributes:
        asked: the exercises to ask about.
        known: results of the others, from the journal.
    """

    spec: GraderSpec
    submitted: SubmittedFiles
    asked: tuple[str, ...]
    known: Mapping[str, ExerciseResult]


@dataclass(frozen=True)
class GradedSubmission:
    """A submission after grading.

    Attributes:
        results: new ones, one for each exercise asked about.
        notebook: the graded notebook as JSON text.
    """

    record: SubmissionRecord
    results: tuple[ExerciseResult, ...]
    notebook: str
