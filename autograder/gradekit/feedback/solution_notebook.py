"""The model solutions of a lab as a notebook that students read after the lab has closed.

It is the solved notebook without nbgrader's marks: under each step the reference, under
predictions and errata each right answer with its reason, under each question a model answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from gradekit.build.bundle import BUNDLES
from gradekit.build.solved import solved_notebook
from gradekit.exercise.loader import CourseLabs
from gradekit.feedback.solutions import RightAnswer, Solution, Solutions, solutions_of
from gradekit.files import write_whole

_OURS = ("nbgrader", "attnlab")


def write_solutions(labs: CourseLabs, lab: str, now: datetime) -> Path:
    """Write ``release/<lab>-solutions.ipynb``, which runs beside the lab's own notebook.

    Args:
        now: with its time zone.

    Raises:
        CourseError, ExerciseError: the lab has not closed, or its sources contradict each other.
    """
    notebook = solution_notebook(labs, lab, solutions_of(labs, lab, now))
    path = labs.course.root / BUNDLES / f"{lab}-solutions.ipynb"
    path.parent.mkdir(exist_ok=True)
    write_whole(path, nbformat.writes(notebook) + "\n")
    return path


def solution_notebook(labs: CourseLabs, lab: str, solutions: Solutions) -> NotebookNode:
    """The notebook with the answers of `solutions`."""
    solved = solved_notebook(labs.course, labs[lab])
    cells = [made for cell in solved.cells for made in _cells(cell, solutions)]
    about = {"generated": f"by `lab release --solutions {lab}`"}
    metadata = {**solved.metadata, "attnlab": about}
    return new_notebook(cells=cells, metadata=metadata)


def _cells(cell: NotebookNode, solutions: Solutions) -> Iterator[NotebookNode]:
    """A cell of the solved notebook as students see it, and what belongs below it."""
    name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
    metadata = {key: value for key, value in cell.metadata.items() if key not in _OURS}
    if cell.cell_type == "markdown":
        text, _, _ = cell.source.partition("<!-- BEGIN SOLUTION -->")
        if name in solutions.texts:
            text = f"{text.rstrip()}\n\n**A model answer.** {solutions.texts[name]}"
        yield new_markdown_cell(text, id=cell.id, metadata=metadata)
    elif name in solutions.exercises:
        solution = solutions.exercises[name]
        yield new_code_cell(solution.code, id=cell.id, metadata=metadata)
        if solution.items:
            yield new_markdown_cell(_reasons(solution), id=f"{cell.id}-reasons"[:64])
    else:
        text, _, _ = cell.source.partition("### BEGIN HIDDEN TESTS")
        yield new_code_cell(text.rstrip(), id=cell.id, metadata=metadata)


def _reasons(solution: Solution) -> str:
    return "\n".join(_line(item) for item in solution.items)


def _line(item: RightAnswer) -> str:
    instead = f" (the slide says {item.slide})" if item.slide else ""
    reason = item.reason[:1].upper() + item.reason[1:].rstrip(".")
    return f"- **{item.name}**, {item.title}: **{item.answer}**{instead}. {reason}."
