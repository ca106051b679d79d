"""One notebook that ``nbgrader validate`` reads, and the judge's verdicts on it.

Tested in tests/gradekit/nbgrader/test_validate.py.
"""

from __future__ import annotations

import logging
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_output
from traitlets.config import Application

from gradekit.course import RELEASED, Course, load_course
from gradekit.errors import CourseError
from gradekit.grading.grader import LabGrader
from gradekit.grading.grader_cache import process_cache
from gradekit.grading.task import GraderSpec
from gradekit.nbgrader_settings import nbgrader_config
from gradekit.results.folder import course_secret, results_folder
from gradekit.results.records import ExerciseResult, digest_of
from gradekit.sandbox.levels import AUTO, choose
from gradekit.submissions.folder import SubmittedFiles, read_submitted
from gradekit.submissions.notebook import checked_exercise
from gradekit.submissions.released import grade_id_of
from gradekit.submissions.submission import Submission, read_submission

_WIDTH = 78


@dataclass
class JudgedNotebook:
    """One notebook, which the judge judges once.

    Attributes:
        folder: the notebook's folder.
        cells: all cells of the notebook, unchanged.
    """

    root: Path
    folder: Path
    cells: list[Any] = field(default_factory=list)

    def reasons(self, grade_id: str | None, exercise: str | None) -> list[str]:
        """Why a test cell does not get all its points; empty for a cell that is not a test.

        Raises:
            CourseError: no lab of this course has such a notebook.
            SandboxUnavailableError: this machine cannot confine student code.
        """
        by_cell = {target.grade_id: target.exercise for target in self._grader.released.tests}
        name = by_cell.get(grade_id or "", exercise)
        return self._verdicts.get(name, []) if name else []

    @cached_property
    def _grader(self) -> LabGrader:
        course = load_course(self.root)
        return _grader(course, _lab_of(course, self.folder, self.cells))

    @cached_property
    def _verdicts(self) -> Mapping[str, list[str]]:
        """By exercise, why points were lost."""
        grader = self._grader
        submission = read_submission(_submitted(grader, self.folder, self.cells), grader.released)
        names = [exercise.name for exercise in grader.exercises.exercises]
        if submission.broken:
            return {name: [submission.broken] for name in names}
        graded = grader.grade(submission)
        for remark in filter(None, [graded.stopped, *submission.notes, *graded.notes]):
            _log().warning("%s", remark)
        if graded.broken:
            return {name: [f"Not graded; this is our fault: {graded.broken}"] for name in names}
        verdicts = {result.exercise: _reasons(result) for result in graded.results}
        for name in sorted(set(names) - self._shown(submission)):
            verdict = "; ".join(verdicts[name]) or "all points"
            _log().warning("%s has no test cell in this notebook: %s", name, verdict)
        return verdicts

    def _shown(self, submission: Submission) -> set[str]:
        """The exercises with a test cell that the validator reports on."""
        by_cell = {target.grade_id: target.exercise for target in self._grader.released.tests}
        shown = set()
        for cell in self.cells:
            if cell.cell_type == "code":
                checked = checked_exercise(cell.source)
                shown.add(by_cell.get(grade_id_of(cell) or "", checked or ""))
        return shown


def _log() -> Any:
    """The log of the command, or of the server."""

    app = Application.instance() if Application.initialized() else None
    return app.log if app else logging.getLogger(__name__)


def _lab_of(course: Course, folder: Path, cells: list[Any]) -> str:
    """The lab from the folder's name, as in submitted/ada/lab01, or else from the cells' ids."""

    if folder.name in course.labs:
        return folder.name
    names = {grade_id_of(cell) for cell in cells} - {None}
    shared = {}
    for lab in course.labs:
        for path in (course.root / RELEASED / lab).glob("*.ipynb"):
            there = nbformat.read(path, as_version=4).cells
            shared[lab] = len(names & {grade_id_of(cell) for cell in there})
    best = max(shared, key=lambda lab: shared[lab], default="")
    if not shared.get(best):
        raise CourseError(
            f"the notebook in {folder} has no test cell of any lab of this course; put it into a "
            "folder with the lab's name, such as submitted/ada/lab01"
        )
    return best


def _grader(course: Course, lab: str) -> LabGrader:
    process_cache().refuse_old_references()
    level = str(nbgrader_config(course).SandboxExecute.get("confinement", AUTO))
    try:
        _log().info(choose(level).line)
    except ValueError as error:
        raise CourseError(f"nbgrader_config.py, SandboxExecute.confinement: {error}") from error
    return process_cache().up_to_date(
        GraderSpec(course, lab, level, course_secret(results_folder(course)))
    )


def _submitted(grader: LabGrader, folder: Path, cells: list[Any]) -> SubmittedFiles:
    """The notebook as nbgrader read it, with the other files in its folder."""

    found = read_submitted(folder, folder.parent.name, grader.spec.lab)
    text = nbformat.writes(nbformat.v4.new_notebook(cells=cells)).encode()
    files = {key: data for key, data in found.files.items() if not key.endswith(".ipynb")}
    files[f"{grader.released.name}.ipynb"] = text
    return replace(found, files=files, modified=dict.fromkeys(files, 0.0), digest=digest_of(text))


def _reasons(result: ExerciseResult) -> list[str]:
    if result.earned is None:
        return [result.not_graded]
    if result.earned >= result.points:
        return []
    failed = [f"✗ {check.title}" for check in result.checks if not check.passed]
    return [f"{result.earned:g} of {result.points:g} points", *failed, *result.advice]


def error_output(lines: list[str]) -> Any:
    """The output of a test cell that does not get all its points: an error with the reasons."""
    wrapped = [part for line in lines for part in textwrap.wrap(line, _WIDTH)]
    return new_output("error", ename="Judged", evalue=lines[0], traceback=wrapped)
