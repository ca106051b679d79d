"""Plugins for nbgrader's commands: the sandbox, the judge, the late rule and our feedback page.

nbgrader_config.py names these classes. They use nbgrader's own extension points and do not change
nbgrader. ``nbgrader autograde`` then reads any hand-in that ``lab grade`` reads, grades it in the
same way, and keeps the result in the same journal.

Tested in tests/gradekit/nbgrader/test_plugins.py, test_regrade.py and test_formgrader.py.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import HTMLExporter, NotebookExporter
from nbformat.notebooknode import NotebookNode
from nbgrader.converters import Autograde
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Enum

from gradekit.course import find_root, load_course
from gradekit.errors import SandboxUnavailableError
from gradekit.exercise.loader import CourseLabs
from gradekit.feedback.graded_notebook import graded_notebook, write_graded_notebook
from gradekit.feedback.page import pages, render, with_solutions
from gradekit.feedback.solutions import Solutions, solutions_of
from gradekit.gradebook.update import GradebookUpdate
from gradekit.grading.grade import note_failure
from gradekit.grading.grader import LabGrader
from gradekit.grading.task import GradedSubmission
from gradekit.grading.worker import grade_submission
from gradekit.late import answers_public_after
from gradekit.nbgrader.context import SubmissionContext, command_of, folders_of
from gradekit.nbgrader.selection import select_submissions
from gradekit.results.folder import failures_path
from gradekit.results.journal import Journal
from gradekit.results.records import Graded, State, SubmissionRecord
from gradekit.sandbox.levels import AUTO, REQUESTS
from gradekit.submissions.folder import SubmittedFiles
from gradekit.submissions.slip_days import lateness_now
from gradekit.submissions.submission import read_submission

Resources = dict[str, Any]


class SubmissionReader(NotebookExporter):
    """Reads hand-ins for ``nbgrader autograde``, and aligns them with the released notebook.

    It reads everything that ``lab grade`` can read.
    """

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        if isinstance(self.parent, Autograde):
            select_submissions(self.parent, _level_of(self))

    def from_filename(
        self, filename: str, resources: Resources | None = None, **more: Any
    ) -> tuple[str, Resources]:
        """Like nbconvert's, but our own reader reads the files in ``submitted/``."""
        context = SubmissionContext.of(self, resources, _level_of(self))
        if Path(filename).resolve().parent != context.submitted_folder.resolve():
            return super().from_filename(filename, resources, **more)
        grader = context.grader()
        submission = read_submission(context.submitted(), grader.released)
        notebook = graded_notebook(submission, grader.released, Graded({}, ()), {})
        return super().from_notebook_node(notebook, resources, **more)


class SandboxExecute(NbGraderPreprocessor):
    """Replaces nbgrader's Execute: the sandbox runs the cells, the judge fills the test cells."""

    confinement = Enum(
        REQUESTS,
        AUTO,
        help="The sandbox of student code in nbgrader's commands: auto, which is bubblewrap or, if "
        "that is unavailable, landlock; one of these two; or none, only for code that you trust.",
    ).tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        """Replace `nb` by the graded notebook, and write its record to the journal.

        Without ``--force``, only exercises without a result are graded.

        Raises:
            SandboxUnavailableError: this machine cannot confine student code.
        """
        context = SubmissionContext.of(self, resources, self.confinement)
        submitted = context.submitted()
        again = getattr(command_of(self), "force", True)
        with Journal(context.journal, wait=None, on_wait=self.log.warning) as journal:
            done = self._graded(context, submitted, journal, again)
            # The record last: if the run is killed in between, the next run does both again.
            write_graded_notebook(
                context.course.root, submitted, context.grader().released.name, done.notebook
            )
            keys = context.grader().keys.of(submitted.student, submitted.digest)
            journal.append_graded(done.record, done.results, keys)
        for remark in filter(None, [done.record.reason, *done.record.notes]):
            self.log.warning("%s: %s", submitted.student, remark)
        return nbformat.reads(done.notebook, as_version=4), resources

    def _graded(
        self, context: SubmissionContext, submitted: SubmittedFiles, journal: Journal, again: bool
    ) -> GradedSubmission:
        grader = context.grader()
        keys = grader.keys.of(submitted.student, submitted.digest)
        asked = tuple(keys) if again else journal.missing(keys)
        recorded = journal.recorded(keys, asked)
        try:
            return grade_submission(grader, submitted, asked, recorded)
        except SandboxUnavailableError:
            raise
        except Exception as error:  # a failure of the grader: log it, record it, and go on
            note_failure(failures_path(context.course, context.lab), submitted, error)
            self.log.error("%s: not graded; this is our fault", submitted.student)
            return _failed(submitted, grader, f"{type(error).__name__}: {error}")


class FinishEntry(NbGraderPreprocessor):
    """Replaces nbgrader's SaveAutoGrades: writes the journal's result to the gradebook.

    It writes what ``lab grade`` writes, with the dates and extensions of course.toml. Exercises
    without a result have no points, not 0. A manual mark needs a new look only if the answer that
    it is for has changed.
    """

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        """Write the entry of the journal's record."""
        context = SubmissionContext.of(self, resources, _level_of(self))
        submitted = context.submitted()
        grader = context.grader()
        keys = grader.keys.of(submitted.student, submitted.digest)
        with Journal(context.journal, wait=None, on_wait=self.log.warning) as journal:
            update = GradebookUpdate(context.course, submitted.lab, journal, context.address)
            entry = update.entry(submitted, keys)
            assert entry is not None, "SandboxExecute has recorded it"
            update.write([entry], grader.released)
        return nb, resources


class CourseLateRule(LateSubmissionPlugin):
    """The ``[late]`` table of course.toml as nbgrader's late rule."""

    def late_submission_penalty(
        self, student_id: str, score: float, total_seconds_late: float
    ) -> float | None:
        """The points to subtract, or None if the hand-in is on time."""
        folders = folders_of(self)
        course, lab = load_course(find_root(Path(folders.root))), folders.assignment_id
        due = course.due(lab, student_id).astimezone(UTC)
        submitted_at = due + timedelta(seconds=total_seconds_late)
        late = lateness_now(course, lab, student_id, submitted_at)
        return late.penalty(score) if late.is_late else None


class FeedbackPage(HTMLExporter):
    """``nbgrader generate_feedback`` writes our page, or nbgrader's own if there is no result."""

    _all_solutions: Solutions | None = None

    def from_filename(
        self, filename: str, resources: Resources | None = None, **more: Any
    ) -> tuple[str, Resources]:
        """The student's page, in the form of nbconvert's HTML exporter."""
        context = SubmissionContext.of(self, resources, _level_of(self))
        if context.journal.is_file():
            solutions = self._solutions(context)
            for page in pages(context.course, context.lab, context.student, context.address):
                shown = with_solutions(page, solutions) if solutions else page
                return render(shown), self._init_resources(resources)
        return super().from_filename(filename, resources, **more)

    def _solutions(self, context: SubmissionContext) -> Solutions | None:
        """The right answers, if the lab has closed; read once for all students of a command."""
        now = datetime.now(UTC)
        if now <= answers_public_after(context.course, context.lab):
            return None
        if self._all_solutions is None:
            self._all_solutions = solutions_of(CourseLabs(context.course), context.lab, now)
        return self._all_solutions


def _failed(submitted: SubmittedFiles, grader: LabGrader, reason: str) -> GradedSubmission:
    """A submission for which the grader failed: no result, and a notebook that says so."""
    submission = read_submission(submitted, grader.released)
    graded = Graded({}, (), broken="Grading failed. This is our fault; no student loses points.")
    notebook = graded_notebook(submission, grader.released, graded, {})
    record = SubmissionRecord(
        submitted.student, submitted.lab, submitted.digest, State.OURS, reason
    )
    return GradedSubmission(record, (), nbformat.writes(notebook))


def _level_of(part: Any) -> str:
    """The level that nbgrader_config.py or the command line sets, for any part of a command."""
    return str(SandboxExecute(parent=part).confinement)
