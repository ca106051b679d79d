"""What makes nbgrader's own commands use the sandbox, the judge, the late rule and our pages.

nbgrader_config.py names these classes; they sit at nbgrader's extension points and change nothing
of it. ``nbgrader autograde`` then reads any hand-in that ``lab grade`` reads, grades it the same
way, and keeps the result in the same journal.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import HTMLExporter, NotebookExporter
from nbformat.notebooknode import NotebookNode
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Unicode

from gradekit.autograded import autograded_notebook
from gradekit.bubblewrap import SandboxUnavailable
from gradekit.course import Course, find_root, load_course
from gradekit.entries import Address, entry_of
from gradekit.feedback import pages, render
from gradekit.grade import RESULTS, course_secret, note_failure
from gradekit.gradebook import Book
from gradekit.grader import GraderSpec, LabGrader
from gradekit.journal import Journal
from gradekit.late import lateness
from gradekit.records import Graded, Record, State, SubmissionRecord
from gradekit.submission import Handin, read_handin, read_submission
from gradekit.work import Done, Task, grade_one, grader_of

Resources = dict[str, Any]


class HandInReader(NotebookExporter):
    """Reads hand-ins for ``nbgrader autograde``: whatever ``lab grade`` can read, re-seated."""

    def from_filename(
        self, filename: str, resources: Resources | None = None, **more: Any
    ) -> tuple[str, Resources]:
        """Like nbconvert's; a file in ``submitted/`` is read by our rules, never by its own."""
        place = _Place.of(self, resources)
        if Path(filename).resolve().parent != place.submitted.resolve():
            return super().from_filename(filename, resources, **more)
        grader = place.grader()
        submission = read_submission(place.handin(), grader.released)
        notebook = autograded_notebook(submission, grader.released, Graded({}, ()), {})
        return super().from_notebook_node(notebook, resources, **more)


class SandboxExecute(NbGraderPreprocessor):
    """In the place of nbgrader's Execute: the sandbox runs the cells, the judge fills the tests."""

    confinement = Unicode(
        "bubblewrap", help="What confines student code: bubblewrap, or none (only if you trust it)."
    ).tag(config=True)

    def preprocess(
        self, nb: NotebookNode, resources: Resources
    ) -> tuple[NotebookNode, Resources]:
        """The graded notebook in the place of `nb`, and its record in the journal.

        Raises:
            SandboxUnavailable: this machine cannot confine student code.
        """
        place = _Place.of(self, resources)
        handin = place.handin()
        grader = place.grader(self.confinement)
        keys = grader.keys(handin.student, handin.digest)
        try:
            done = grade_one(Task(grader.spec, handin, tuple(keys), {}))
        except SandboxUnavailable:
            raise
        except Exception as error:  # ours, whatever it is: said, kept, and no reason to stop
            note_failure(place.journal.with_suffix(".failures.log"), handin, error)
            done = _failed(handin, grader, f"{type(error).__name__}: {error}")
        records = [
            Record(handin.student, handin.lab, handin.digest, keys[result.exercise], result)
            for result in done.results
        ]
        with Journal(place.journal, wait=None, on_wait=self.log.warning) as journal:
            journal.append([*records, done.record])
        if done.record.state is State.OURS:
            self.log.error("%s: not graded, by our fault: %s", handin.student, done.record.reason)
        return nbformat.reads(done.notebook, as_version=4), resources


class FinishEntry(NbGraderPreprocessor):
    """Stands behind SaveAutoGrades: puts what nbgrader cannot read from outputs into the gradebook.

    That is: dates and extensions of course.toml, and exercises without a result, which are open and
    not 0.
    """

    def preprocess(
        self, nb: NotebookNode, resources: Resources
    ) -> tuple[NotebookNode, Resources]:
        """Write the entry of the journal's record."""
        place = _Place.of(self, resources)
        handin = place.handin()
        grader = place.grader()
        with Journal(place.journal, wait=None) as journal, Book(place.address) as book:
            record = journal.submission(handin.student, handin.digest)
            assert record is not None, "SandboxExecute has put it there"
            keys = grader.keys(handin.student, handin.digest)
            scores = {name: journal.earned(key) for name, key in keys.items()}
            entry = entry_of(place.course, record, handin.submitted_at, scores)
            before = journal.stored(handin.student, place.address.shown)
            book.register(handin.lab, grader.released, place.course.dates(handin.lab).due)
            row = book.write(entry, before.answers if before else None)
            journal.mark_stored(entry.stored(place.address, row))
        return nb, resources


class CourseLateRule(LateSubmissionPlugin):
    """The ``[late]`` table of course.toml as nbgrader's late rule."""

    def late_submission_penalty(
        self, student_id: str, score: float, total_seconds_late: float
    ) -> float | None:
        """The points to take off, or None where it is in time."""
        course = load_course(find_root(Path(_folders_of(self).root)))
        late = lateness(course.values.late, total_seconds_late)
        return late.penalty(score) if late.is_late else None


class FeedbackPage(HTMLExporter):
    """``nbgrader generate_feedback`` writes our page; nbgrader's own where we have no result."""

    def from_filename(
        self, filename: str, resources: Resources | None = None, **more: Any
    ) -> tuple[str, Resources]:
        """The student's page, as nbconvert hands over any HTML."""
        place = _Place.of(self, resources)
        if place.journal.is_file():
            for page in pages(place.course, place.lab, place.student, place.address):
                return render(page), self._init_resources(resources)
        return super().from_filename(filename, resources, **more)


def _failed(handin: Handin, grader: LabGrader, reason: str) -> Done:
    """What a hand-in comes to when we fail: no result, and a notebook that says so."""
    submission = read_submission(handin, grader.released)
    graded = Graded({}, (), broken="Grading failed, by our fault; it costs nobody a point.")
    notebook = autograded_notebook(submission, grader.released, graded, {})
    record = SubmissionRecord(handin.student, handin.lab, handin.digest, State.OURS, reason)
    return Done(record, (), nbformat.writes(notebook))


def _folders_of(part: Any) -> CourseDirectory:
    """The course's folders as the nbgrader command knows them that `part` works for."""
    while not hasattr(part, "coursedir"):
        part = part.parent
    return part.coursedir


class _Place:
    """One hand-in as nbgrader's resources name it."""

    def __init__(self, folders: CourseDirectory, student: str, lab: str, db_url: str) -> None:
        self.course: Course = load_course(find_root(Path(folders.root)))
        self.student, self.lab = student, lab
        self.submitted = Path(folders.format_path(folders.submitted_directory, student, lab))
        self.address = Address(db_url, folders.course_id or "default_course")
        self.journal = self.course.root / RESULTS / f"{lab}.jsonl"

    @classmethod
    def of(cls, part: Any, resources: Resources | None) -> _Place:
        """The hand-in that an exporter or preprocessor is at work on."""
        whose = (resources or {})["nbgrader"]
        return cls(_folders_of(part), whose["student"], whose["assignment"], whose["db_url"])

    def handin(self) -> Handin:
        """What was handed in, as it lies in ``submitted/`` and not as nbgrader copied it."""
        return read_handin(self.submitted, self.student, self.lab)

    def grader(self, confinement: str = "bubblewrap") -> LabGrader:
        """This process's grader for the lab; it stays warm from one student to the next."""
        secret = course_secret(self.course.root / RESULTS)
        return grader_of(GraderSpec(self.course, self.lab, confinement, secret))
