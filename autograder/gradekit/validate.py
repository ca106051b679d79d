"""``nbgrader validate``, and JupyterLab's Validate button, in the course's folder: the trusted way.

nbgrader's validator runs a notebook in a kernel of whoever validates it, and then reads the test
cells' outputs. nbgrader_config.py hangs :class:`Validation` on that run, at the one place that
Jupyter has for it: no cell reaches the kernel, and a test cell's outputs are the judge's, who is
asked when they are first read.

Importing this file costs nothing: nbgrader_config.py does so for every command.
"""

from __future__ import annotations

import copy
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradekit.course import Course
    from gradekit.grader import LabGrader
    from gradekit.records import ExerciseResult
    from gradekit.submission import Submission
    from gradekit.submitted import Handin

_SKIPPED = "skip-execution"  # nbclient's own word for a cell that is not to be run
_WIDTH = 78


@dataclass
class Validation:
    """For ``Execute.on_cell_start``: validates the notebook whose cells it is given, one by one.

    Attributes:
        root: the course's folder. It is not looked for: a hand-in may hold a course.toml, too.
    """

    root: Path
    _judging: _Judging | None = None

    def __call__(self, cell: Any, cell_index: int) -> None:
        """Keep a cell from the kernel; if it is a test cell, have the judge fill its outputs."""
        from gradekit.handed_in import checked_exercise
        from gradekit.seats import grade_id_of

        if cell_index == 0 or self._judging is None:
            self._judging = _Judging(self.root, Path.cwd())
        self._judging.cells.append(copy.deepcopy(cell))
        cell.metadata["tags"] = [_SKIPPED]
        if cell.cell_type != "code":
            return
        exercise = checked_exercise(cell.source)
        about = cell.metadata.get("nbgrader")
        if exercise and not about:  # an editor lost it; without, nbgrader sees no test cell here
            about = {"grade": True, "solution": False, "points": 1.0, "cell_type": "code"}
            cell.metadata["nbgrader"] = {**about, "grade_id": f"check_{exercise}"}
        cell.outputs = _Outputs(self._judging, grade_id_of(cell), exercise)


class _Outputs(list[Any]):
    """A test cell's outputs: none where all points were earned, else an error with the reasons."""

    def __init__(self, judging: _Judging, grade_id: str | None, exercise: str | None) -> None:
        super().__init__()
        self._judging, self._grade_id, self._exercise = judging, grade_id, exercise

    def __iter__(self) -> Iterator[Any]:
        lines = self._judging.reasons(self._grade_id, self._exercise)
        return iter([_error(lines)] if lines else [])


@dataclass
class _Judging:
    """One notebook on its way to the judge, who is asked once.

    Attributes:
        folder: where the notebook lies.
        cells: all of the notebook's, as they were.
    """

    root: Path
    folder: Path
    cells: list[Any] = field(default_factory=list)

    def reasons(self, grade_id: str | None, exercise: str | None) -> list[str]:
        """Why a test cell does not get all its points; nothing for a cell that is no test.

        Raises:
            CourseError: no lab of this course has such a notebook.
            SandboxUnavailable: this machine cannot confine student code.
        """
        by_cell = {seat.grade_id: seat.exercise for seat in self._grader.released.tests}
        name = by_cell.get(grade_id or "", exercise)
        return self._verdicts.get(name, []) if name else []

    @cached_property
    def _grader(self) -> LabGrader:
        from gradekit.course import load_course

        course = load_course(self.root)
        return _grader(course, _lab_of(course, self.folder, self.cells))

    @cached_property
    def _verdicts(self) -> Mapping[str, list[str]]:
        """By exercise, why points were lost."""
        from gradekit.submission import read_submission

        grader = self._grader
        submission = read_submission(_handin(grader, self.folder, self.cells), grader.released)
        names = [exercise.name for exercise in grader.exercises.exercises]
        if submission.broken:
            return {name: [submission.broken] for name in names}
        graded = grader.grade(submission)
        for remark in filter(None, [graded.stopped, *submission.notes]):
            _log().warning("%s", remark)
        if graded.broken:
            return {name: [f"Not graded, by our fault: {graded.broken}"] for name in names}
        verdicts = {result.exercise: _reasons(result) for result in graded.results}
        for name in sorted(set(names) - self._shown(submission)):
            verdict = "; ".join(verdicts[name]) or "all points"
            _log().warning("%s has no test cell in this notebook: %s", name, verdict)
        return verdicts

    def _shown(self, submission: Submission) -> set[str]:
        """The exercises with a test cell that the validator reports on."""
        from gradekit.handed_in import checked_exercise
        from gradekit.seats import grade_id_of

        by_cell = {seat.grade_id: seat.exercise for seat in self._grader.released.tests}
        shown = set()
        for cell in self.cells:
            if cell.cell_type == "code":
                checked = checked_exercise(cell.source)
                shown.add(by_cell.get(grade_id_of(cell) or "", checked or ""))
        return shown


def _log() -> Any:
    """Where the command, or the server, says things."""
    import logging

    from traitlets.config import Application

    app = Application.instance() if Application.initialized() else None
    return app.log if app else logging.getLogger(__name__)


def _lab_of(course: Course, folder: Path, cells: list[Any]) -> str:
    """The lab by the folder's name, as in submitted/ada/lab01; else by the notebook's cells."""
    import nbformat

    from gradekit.course import RELEASED, CourseError
    from gradekit.seats import grade_id_of

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
    from gradekit.entries import nbgrader_config
    from gradekit.grade import RESULTS, course_secret
    from gradekit.sandbox import check_level
    from gradekit.task import GraderSpec
    from gradekit.warm import refuse_old_references, warm_grader

    refuse_old_references()
    level = str(nbgrader_config(course).SandboxExecute.get("confinement", "bubblewrap"))
    check_level(level)
    return warm_grader(GraderSpec(course, lab, level, course_secret(course.root / RESULTS)))


def _handin(grader: LabGrader, folder: Path, cells: list[Any]) -> Handin:
    """The notebook as nbgrader read it, with the other files that lie beside it."""
    import nbformat

    from gradekit.records import digest_of
    from gradekit.submitted import read_handin

    beside = read_handin(folder, folder.parent.name, grader.spec.lab)
    text = nbformat.writes(nbformat.v4.new_notebook(cells=cells)).encode()
    files = {key: data for key, data in beside.files.items() if not key.endswith(".ipynb")}
    files[f"{grader.released.name}.ipynb"] = text
    return replace(
        beside, files=files, modified=dict.fromkeys(files, 0.0), digest=digest_of(text)
    )


def _reasons(result: ExerciseResult) -> list[str]:
    if result.earned is None:
        return [f"Not graded: {result.broken} This is our fault and costs nobody a point."]
    if result.earned >= result.points:
        return []
    failed = [f"✗ {check.title}" for check in result.checks if not check.passed]
    return [f"{result.earned:g} of {result.points:g} points", *failed, *result.advice]


def _error(lines: list[str]) -> Any:
    from nbformat.v4 import new_output

    wrapped = [part for line in lines for part in textwrap.wrap(line, _WIDTH)]
    return new_output("error", ename="Judged", evalue=lines[0], traceback=wrapped)
