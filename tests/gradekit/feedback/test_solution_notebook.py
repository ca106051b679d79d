"""The model solutions: the reference under each step, each right answer with its reason."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import nbformat
import pytest

from gradekit.course import load_course
from gradekit.exercise.loader import CourseLabs
from gradekit.exercise.written_answers import Errata, Predictions
from gradekit.feedback.solution_notebook import solution_notebook, write_solutions
from gradekit.feedback.solutions import solutions_of
from gradekit.late import closes
from tests.helpers.small_course import copy_real_course

REAL = load_course(Path(__file__).resolve().parents[3])
LABS = CourseLabs(REAL)
LAB = "lab03"
LATER = closes(REAL, LAB) + timedelta(seconds=1)


@pytest.fixture(scope="module")
def notebook() -> nbformat.NotebookNode:
    made = solution_notebook(LABS, LAB, solutions_of(LABS, LAB, LATER))
    nbformat.validate(made)
    return made


def test_every_step_has_its_reference_and_no_mark_is_left(notebook) -> None:
    text = "\n".join(cell.source for cell in notebook.cells)
    for mark in ("SOLUTION", "HIDDEN", "gradekit", "NotImplementedError", "{{"):
        assert mark not in text
    assert not [cell for cell in notebook.cells if "nbgrader" in cell.metadata]
    by_id = {cell.id: cell.source for cell in notebook.cells}
    for exercise in LABS[LAB].exercises:
        assert by_id[f"check_{exercise.name}"] == f'check("{exercise.name}")'
        for name in exercise.names:
            assert name in by_id[exercise.name]
    assert "**A model answer.** A score is a sum of 1024 products" in by_id["explain"]


def test_every_item_has_its_number_and_one_reason(notebook) -> None:
    ids = [cell.id for cell in notebook.cells]
    for exercise in LABS[LAB].exercises:
        if isinstance(exercise, Predictions | Errata):
            place = ids.index(exercise.name)
            assert ids[place + 1] == f"{exercise.name}-reasons"
            lines = notebook.cells[place + 1].source.splitlines()
            assert [line.split("**")[1] for line in lines] == list(exercise.items)
            assert all(line.endswith(".") and line.count("**") == 4 for line in lines)
            says = [line for line in lines if "the slide says" in line]
            assert len(says) == (len(lines) if isinstance(exercise, Errata) else 0)


def test_it_is_written_beside_the_bundles(tmp_path: Path) -> None:
    course = copy_real_course(tmp_path)
    path = write_solutions(CourseLabs(course), "lab00", closes(course, "lab00") + timedelta(days=1))
    assert path == tmp_path / "release" / "lab00-solutions.ipynb"
    assert nbformat.read(path, as_version=4).metadata.attnlab.generated.startswith("by `lab rel")
