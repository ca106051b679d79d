"""The messages to and from a worker process, as values.

Tested in tests/gradekit/grading/test_grade.py and test_replay.py.
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
        recorded: results of the others, from the journal.
    """

    spec: GraderSpec
    submitted: SubmittedFiles
    asked: tuple[str, ...]
    recorded: Mapping[str, ExerciseResult]


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


@dataclass(frozen=True)
class ShownCall:
    """A call of the student's code.

    Attributes:
        arguments: names and values, as text.
    """

    function: str
    arguments: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class FailedCheck:
    """A check that a hand-in failed.

    Attributes:
        file: the exercise's file, from the course's folder on.
        case: the size that was asked, for a check that asks at several; else empty.
        calls: the calls whose results differ, or, if that is not known, the first ones.
        more_calls: how many calls of the check are left out.
        place: the names and numbers that lead to the first difference in the check's answer.
        expected, seen: the two values there, as text; what the student's code returned or raised
            may hold any characters.
        difference: how they differ, in a sentence.
    """

    name: str
    title: str
    hidden: bool
    file: str
    case: str
    calls: tuple[ShownCall, ...]
    more_calls: int
    place: str
    expected: str
    seen: str
    difference: str


@dataclass(frozen=True)
class Replayed:
    """One step of a hand-in after the new run.

    Attributes:
        earned: the points of this run.
        failed: the checks that lost points in it.
    """

    step: str
    earned: float
    failed: tuple[FailedCheck, ...]


@dataclass(frozen=True)
class ReplayTask:
    """A submission to run again, and the steps to ask about."""

    spec: GraderSpec
    submitted: SubmittedFiles
    steps: tuple[str, ...]
