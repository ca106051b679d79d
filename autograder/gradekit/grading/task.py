"""The messages to and from a worker process, and the two functions that run there.

The command that hands out work imports this file, so the functions import torch only when they
run, in the worker. Tested in tests/gradekit/grading/test_result_keys.py (no torch in the command)
and test_grade.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gradekit.course import Course
from gradekit.grading.result_keys import ResultKeys
from gradekit.results.records import ExerciseResult, SubmissionRecord
from gradekit.submissions.folder import SubmittedFiles


@dataclass(frozen=True)
class GraderSpec:
    """Everything a worker needs to make a grader of its own.

    Attributes:
        level: the confinement of student code: bubblewrap, landlock or none.
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


def grade_task(task: GradingTask) -> GradedSubmission:
    """Grade one submission with this process's grader, which stays warm for the next one.

    Raises:
        GraderError: the grader does not give the lab's own solution full marks.
    """
    from gradekit.grading.grader_cache import process_cache
    from gradekit.grading.worker import grade_submission

    with process_cache().lent(task.spec) as grader:
        return grade_submission(grader, task.submitted, task.asked, task.known)


def keys_of(spec: GraderSpec) -> ResultKeys:
    """The keys of a lab's results.

    Raises:
        CourseError, ExerciseError: the lab's files contradict each other.
    """
    from gradekit.grading.grader import LabGrader

    return LabGrader(spec).keys
