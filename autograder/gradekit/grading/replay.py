"""A hand-in once more, for staff: on which inputs its steps failed, and what they answered.

The journal keeps no inputs, because pages are made of it. So the hand-in runs again, in the sandbox
and on the inputs of its grading; nothing of this run is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gradekit.course import Course
from gradekit.errors import CollectError, GraderError, NotebookError
from gradekit.grading import pool
from gradekit.grading.task import GraderSpec, Replayed, ReplayTask
from gradekit.results.folder import course_secret, results_folder
from gradekit.sandbox.levels import AUTO, check_request, choose
from gradekit.submissions.folder import find_submissions

if TYPE_CHECKING:
    from gradekit.grading.grader import Judged, LabGrader


def replay(
    course: Course, lab: str, student: str, steps: Sequence[str], level: str = AUTO
) -> tuple[Replayed, ...]:
    """Run a hand-in again and ask about `steps`, in a process that ends afterwards.

    Raises:
        CourseError: there is no such level.
        CollectError: the hand-in is no longer there.
        NotebookError: it cannot be run.
        SandboxUnavailableError: this machine cannot confine student code.
        GraderError: the sandbox failed.
    """
    submitted = next(find_submissions(course.root, lab, [student]), None)
    if submitted is None:
        raise CollectError(
            f"there is no hand-in of {student} for {lab} in submitted/, so it cannot run again; "
            "`lab collect` brings hand-ins there"
        )
    check_request(level)
    level = choose(level).level
    spec = GraderSpec(course, lab, level, course_secret(results_folder(course)))
    return pool.call(replay_task, ReplayTask(spec, submitted, tuple(steps)))


def replay_task(task: ReplayTask) -> tuple[Replayed, ...]:
    """In the worker: what :func:`replay` returns."""
    import torch

    from gradekit.grading.grader import LabGrader
    from gradekit.sandbox.sandbox import SandboxFailedError
    from gradekit.submissions.submission import read_submission

    torch.set_num_threads(1)  # as in grading
    with LabGrader(task.spec) as grader:
        submission = read_submission(task.submitted, grader.released)
        if submission.broken is not None:
            raise NotebookError(
                f"the hand-in of {submission.student} cannot run: {submission.broken}"
            )
        try:
            judged = grader.run_and_judge(submission, task.steps)
        except SandboxFailedError as error:
            raise GraderError(f"the sandbox failed: {error}; run the command again") from error
        return tuple(_replayed(grader, judged, step) for step in judged.verdicts)


def _replayed(grader: LabGrader, judged: Judged, step: str) -> Replayed:
    from gradekit.grading.failed_checks import failed_check

    exercise, verdict = grader.exercises[step], judged.verdicts[step]
    failed = [
        failed_check(grader, judged.number, exercise, outcome)
        for outcome in verdict.outcomes
        if not outcome.passed
    ]
    return Replayed(step, verdict.earned, tuple(failed))
