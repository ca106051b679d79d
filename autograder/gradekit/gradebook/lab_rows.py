"""A lab's rows in the gradebook: its assignment, its notebook and the cells that earn points.

Tested in tests/gradekit/gradebook/test_lab_rows.py and test_gradebook.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, assert_never

from nbgrader import api
from nbgrader.utils import is_locked

from gradekit.errors import GradebookError
from gradekit.submissions.released import Released, TargetCell


@dataclass(frozen=True)
class LabRows:
    """The ids of a lab's rows.

    Attributes:
        assignment: the lab's.
        notebook: the released notebook's.
        graded: of the cells that earn points, by the cells' names.
        commented: of the cells that a TA may comment, by the cells' names.
        tests: the autograded cells, by name.
        answers: the names of the free-text cells.
    """

    assignment: str
    notebook: str
    graded: Mapping[str, str]
    commented: Mapping[str, str]
    tests: Mapping[str, TargetCell]
    answers: frozenset[str]


def find_rows(db: Any, lab: str, released: Released) -> LabRows:
    """The rows that :func:`register_rows` wrote."""
    assignment = _one(db, api.Assignment, name=lab)
    notebook = _one(db, api.Notebook, name=released.name, assignment_id=assignment.id)
    return LabRows(
        assignment.id,
        notebook.id,
        {cell.name: cell.id for cell in notebook.grade_cells},
        {cell.name: cell.id for cell in notebook.solution_cells},
        {target.grade_id: target for target in released.tests},
        frozenset(target.grade_id for target in released.answers),
    )


def register_rows(
    db: Any, course_id: str, lab: str, released: Released, due: datetime | None
) -> None:
    """Write or update a lab's rows, like ``nbgrader generate_assignment``; does not commit.

    Raises:
        GradebookError: the gradebook has graded cells that the notebook no longer has.
    """
    moment = due.astimezone(UTC).replace(tzinfo=None) if due else None
    assignment = _one(db, api.Assignment, name=lab)
    if assignment is None:
        assignment = api.Assignment(name=lab, course_id=course_id)
        db.add(assignment)
    assignment.duedate = moment
    db.flush()
    notebook = _one(db, api.Notebook, name=released.name, assignment_id=assignment.id)
    if notebook is None:
        kernel = json.dumps(released.notebook.metadata.get("kernelspec", {}))
        notebook = api.Notebook(name=released.name, assignment=assignment, kernelspec=kernel)
        db.add(notebook)
        db.flush()
    _register_cells(db, lab, notebook, released)


def _rename_cells(notebook: Any, released: Released) -> None:
    """Give renamed cells their new names; the marks and comments on them stay."""
    for rows in (notebook.grade_cells, notebook.solution_cells, notebook.source_cells):
        there = {row.name for row in rows}
        for row in rows:
            new = released.renamed.get(row.name)
            if new is not None and new not in there:
                row.name = new


def _register_cells(db: Any, lab: str, notebook: Any, released: Released) -> None:
    _rename_cells(notebook, released)
    graded = {cell.name: cell for cell in notebook.grade_cells}
    solved = {cell.name for cell in notebook.solution_cells}
    sources = {cell.name for cell in notebook.source_cells}
    now = {target.grade_id for target in released.targets if earns_points(target)}
    gone = sorted(set(graded) - now)
    if gone:
        raise GradebookError(
            f"{lab}: the gradebook has points for {', '.join(gone)}, which the released "
            f"notebook no longer has; put them back, write renamed_from next to their new names, "
            f"or start a new gradebook"
        )
    for target in released.targets:
        name, cell = target.grade_id, target.cell
        if earns_points(target):
            row = graded.get(name) or api.GradeCell(name=name, notebook=notebook)
            row.max_score, row.cell_type = target.points, cell.cell_type
            db.add(row)
        if is_written_by_students(target) and name not in solved:
            db.add(api.SolutionCell(name=name, notebook=notebook))
        # nbgrader's own release step stored the test cells with their hidden part; that is kept.
        if name not in sources:
            db.add(
                api.SourceCell(
                    name=name,
                    notebook=notebook,
                    cell_type=cell.cell_type,
                    source=cell.source,
                    locked=is_locked(cell),
                    checksum=cell.metadata.nbgrader.get("checksum"),
                )
            )


def earns_points(target: TargetCell) -> bool:
    """Whether a cell has a row for its points."""
    match target.kind:
        case "test" | "answer":
            return True
        case "solution" | "locked":
            return False
        case unknown:
            assert_never(unknown)


def is_written_by_students(target: TargetCell) -> bool:
    """Whether a cell has a row for comments on the student's text."""
    match target.kind:
        case "solution" | "answer":
            return True
        case "test" | "locked":
            return False
        case unknown:
            assert_never(unknown)


def _one(db: Any, table: Any, **values: Any) -> Any:
    return db.query(table).filter_by(**values).one_or_none()
