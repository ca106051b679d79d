"""One submission in a worker process: bytes in, values out, no shared files.

"Judge this submission" is three files: this one reads it and writes its record, grader.py asks the
sandbox, judge.py compares the answers. Tested in tests/gradekit/grading/test_grade.py and
test_demo_class.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from gradekit.feedback.graded_notebook import graded_notebook
from gradekit.grading.grader import LabGrader
from gradekit.grading.task import GradedSubmission
from gradekit.results.records import ExerciseResult, Graded, State, SubmissionRecord
from gradekit.submissions.align import answer_digests, blank_exercises
from gradekit.submissions.folder import SubmittedFiles
from gradekit.submissions.submission import Submission, read_submission


def grade_submission(
    grader: LabGrader,
    submitted: SubmittedFiles,
    asked: Sequence[str],
    recorded: Mapping[str, ExerciseResult],
) -> GradedSubmission:
    """Read one submission, grade it, and write its graded notebook.

    Args:
        asked: the exercises to ask about.
        recorded: results of the others.
    """
    submission = read_submission(submitted, grader.released)
    graded = _graded(grader, submission, asked)
    results = {**recorded, **{result.exercise: result for result in graded.results}}
    notebook = graded_notebook(submission, grader.released, graded, results)
    state, reason = _state(submission, graded)
    record = SubmissionRecord(
        student=submitted.student,
        lab=submitted.lab,
        digest=submitted.digest,
        state=state,
        reason=reason,
        notes=(*submission.notes, *graded.notes),
        answers=answer_digests(notebook, grader.released),
        blank=blank_exercises(notebook, grader.released),
        submitted_at=submitted.submitted_at.isoformat() if submitted.submitted_at else None,
        seconds=graded.seconds,
    )
    text = json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"
    # Half a character (a lone surrogate) cannot be written to a file.
    return GradedSubmission(record, graded.results, text.encode("utf-8", "replace").decode())


def _graded(grader: LabGrader, submission: Submission, asked: Sequence[str]) -> Graded:
    if submission.broken is not None:
        return Graded({}, ())
    return grader.grade(submission, asked)


def _state(submission: Submission, graded: Graded) -> tuple[State, str]:
    """What became of a submission, and why."""
    if submission.broken is not None:
        return (State.OURS if submission.is_ours else State.THEIRS), submission.broken
    if graded.broken is not None:
        return State.OURS, graded.broken
    return State.GRADED, graded.stopped or ""
