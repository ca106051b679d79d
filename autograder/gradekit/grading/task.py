"""What goes to a worker process, and what comes back.

A command that only hands out work imports this and nothing that takes time: what the two functions
call imports torch, in the worker.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gradekit.course import Course
from gradekit.results.records import ExerciseResult, SubmissionRecord
from gradekit.submissions.folder import SubmittedFiles


@dataclass(frozen=True)
class GraderSpec:
    """All that a worker needs to make a grader of its own.

    Attributes:
        level: what confines student code: bubblewrap, landlock or none.
        secret: the course's, which makes hidden inputs unguessable.
    """

    course: Course
    lab: str
    level: str
    secret: bytes


@dataclass(frozen=True)
class GradingTask:
    """A hand-in to grade.

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
    """A hand-in after grading.

    Attributes:
        results: fresh ones, one for each exercise asked about.
        notebook: the autograded notebook as JSON text.
    """

    record: SubmissionRecord
    results: tuple[ExerciseResult, ...]
    notebook: str
