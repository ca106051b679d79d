"""One hand-in's journey through a worker process: bytes in, values out, no shared files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from multiprocessing.util import Finalize

import torch

from gradekit.course import SOLVED
from gradekit.errors import GraderError
from gradekit.feedback.graded_notebook import graded_notebook
from gradekit.grading.grader import LabGrader
from gradekit.grading.task import GradedSubmission, GraderSpec, GradingTask
from gradekit.results.records import Graded, State, SubmissionRecord, digest_of
from gradekit.submissions.align import answer_digests
from gradekit.submissions.folder import SubmittedFiles
from gradekit.submissions.submission import read_submission


@dataclass(frozen=True)
class _Kept:
    """A warm grader, and what ends it."""

    grader: LabGrader
    close: Finalize


_KEPT: list[_Kept] = []  # none or one


def grade_one(task: GradingTask) -> GradedSubmission:
    """Grade one hand-in with this process's grader, which stays warm for the next."""
    grader = grader_of(task.spec)
    submitted = task.submitted
    submission = read_submission(submitted, grader.released)
    if submission.broken is not None:
        state, reason, graded = State.THEIRS, submission.broken, Graded({}, ())
    else:
        graded = grader.grade(submission, task.asked)
        state, reason = State.GRADED, graded.stopped or ""
        if graded.broken is not None:
            state, reason = State.OURS, graded.broken
    results = {**task.known, **{result.exercise: result for result in graded.results}}
    notebook = graded_notebook(submission, grader.released, graded, results)
    record = SubmissionRecord(
        student=submitted.student,
        lab=submitted.lab,
        digest=submitted.digest,
        state=state,
        reason=reason,
        notes=submission.notes,
        answers=answer_digests(notebook, grader.released),
        submitted_at=submitted.submitted_at.isoformat() if submitted.submitted_at else None,
        seconds=graded.seconds,
    )
    text = json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"
    # Half a character (a lone surrogate) cannot be written to a file.
    return GradedSubmission(record, graded.results, text.encode("utf-8", "replace").decode())


def grader_of(spec: GraderSpec) -> LabGrader:
    """This process's grader for a lab; it stays warm for the next hand-in, and only one does.

    Raises:
        GraderError: it does not give the lab's own solution full marks.
    """
    if _KEPT and _KEPT[-1].grader.spec == spec:
        return _KEPT[-1].grader
    drop_grader()
    # Workers share the cores among themselves; threads within each would only fight for them.
    torch.set_num_threads(1)
    grader = LabGrader(spec)
    # A worker's interpreter ends without running atexit functions, but it runs these.
    close = Finalize(None, grader.__exit__, args=(None, None, None), exitpriority=10)
    _KEPT.append(_Kept(grader, close))
    try:
        prove(grader)
    except BaseException:
        drop_grader()
        raise
    return grader


def drop_grader() -> None:
    """End this process's warm grader and its sandbox, if there is one."""
    while _KEPT:
        _KEPT.pop().close()


def saved_files(grader: LabGrader) -> dict[str, bytes]:
    """The files of weights that the lab's own solution saves."""
    return {
        path.name: path.read_bytes()
        for exercise in grader.exercises.exercises
        for path in exercise.saved_paths
    }


def prove(grader: LabGrader) -> None:
    """Grade the lab's own solution first: what fails there is our fault, and no student's.

    Raises:
        GraderError: it earns less than all points.
    """
    course, lab = grader.spec.course, grader.spec.lab
    name = f"{grader.released.name}.ipynb"
    text = (course.root / SOLVED / lab / name).read_bytes()
    files = {name: text, **saved_files(grader)}
    submitted = SubmittedFiles("", lab, files, dict.fromkeys(files, 0.0), (), digest_of(text), None)
    graded = grader.grade(read_submission(submitted, grader.released))
    short = [result for result in graded.results if result.earned != result.points]
    if graded.broken or short:
        why = graded.broken or "; ".join(
            f"{result.exercise} earns {result.earned:g} of {result.points:g} ({result.advice[-1]})"
            for result in short
        )
        raise GraderError(
            f"{SOLVED}/{lab}/{name} should earn all points, but {why}; run `lab build {lab}` and "
            f"`lab verify {lab}`, nobody is graded until then"
        )
