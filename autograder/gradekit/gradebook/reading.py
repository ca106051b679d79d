"""Reads marks from a gradebook without nbgrader, whose import takes a second.

``lab report`` and ``lab status`` must answer at once, and only read. Tested in
tests/gradekit/gradebook/test_reading.py, and through `Book.marks` in test_gradebook.py.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING, Any

from gradekit.errors import GradebookError
from gradekit.gradebook.address import Address, is_locked, locked, plain_errors
from gradekit.gradebook.marks import Mark, Marks
from gradekit.late import Lateness

if TYPE_CHECKING:
    from gradekit.submissions.released import Released  # imports nbformat

# A query with its parameters, as SQLite and SQLAlchemy both take them: the rows.
Ask = Callable[[str, Mapping[str, str]], Iterable[Any]]

_OF_LAB = """
FROM submitted_assignment AS whole
JOIN assignment ON assignment.id = whole.assignment_id
JOIN submitted_notebook AS notebook ON notebook.assignment_id = whole.id
{more}
WHERE assignment.name = :lab
"""
_PENALTIES = "SELECT whole.student_id, notebook.late_submission_penalty" + _OF_LAB.format(more="")
_GRADES = """
SELECT whole.student_id, base_cell.name,
       grade.auto_score, grade.manual_score, grade.extra_credit, grade.needs_manual_grade
""" + _OF_LAB.format(
    more="JOIN grade ON grade.notebook_id = notebook.id "
    "JOIN base_cell ON base_cell.id = grade.cell_id"
)
_COMMENTS = "SELECT whole.student_id, base_cell.name, comment.manual_comment" + _OF_LAB.format(
    more="JOIN comment ON comment.notebook_id = notebook.id "
    "JOIN base_cell ON base_cell.id = comment.cell_id"
)
_NOT_OURS = "another program wrote that: correct it there, or restore the gradebook from a backup"
# A mark of the judge's that is missing, because the grader failed, waits for the grader.
_TO_MARK = """
SELECT assignment.name, COUNT(DISTINCT whole.student_id)
FROM submitted_assignment AS whole
JOIN assignment ON assignment.id = whole.assignment_id
JOIN submitted_notebook AS notebook ON notebook.assignment_id = whole.id
JOIN grade ON grade.notebook_id = notebook.id
JOIN grade_cells ON grade_cells.id = grade.cell_id
WHERE grade.needs_manual_grade
  AND (grade_cells.cell_type = 'markdown' OR grade.manual_score IS NOT NULL)
GROUP BY assignment.name
"""


def marks_of_lab(ask: Ask, lab: str) -> dict[str, Marks]:
    """The marks of each student who handed in `lab`, manual ones included, by student.

    Args:
        ask: runs a query on nbgrader's tables.

    Raises:
        GradebookError: points that are no finite number, which another program wrote.
    """
    of_lab = {"lab": lab}
    penalties = {student: penalty or 0.0 for student, penalty in ask(_PENALTIES, of_lab)}
    found: dict[str, dict[str, Mark]] = {student: {} for student in penalties}
    comments: dict[str, dict[str, str]] = {student: {} for student in penalties}
    for student, name, auto, manual, extra, needs in ask(_GRADES, of_lab):
        where = f"of {student} for the cell {name} of {lab}"
        _refuse_no_number(auto, f"as points {where}; `lab grade {lab}` writes them again")
        for points in (manual, extra):
            _refuse_no_number(points, f"as manual points {where}; {_NOT_OURS}")
        found[student][name] = Mark(auto, manual, extra, bool(needs))
    for student, name, text in ask(_COMMENTS, of_lab):
        if text and text.strip():
            comments[student][name] = text
    return {
        student: Marks(student, found[student], comments[student], penalties[student])
        for student in sorted(found)
    }


def _refuse_no_number(points: object, what_to_do: str) -> None:
    """Raise GradebookError for points that are no finite number, of which no sum makes sense."""
    if points is not None and not (isinstance(points, int | float) and isfinite(points)):
        raise GradebookError(f"the gradebook holds {str(points)[:20]!r} {what_to_do}")


def read_marks(address: Address, lab: str) -> dict[str, Marks]:
    """As :func:`marks_of_lab`, from a gradebook on its own; no gradebook has no marks.

    Raises:
        GradebookError: it cannot be read, or another program has it locked.
    """
    with _asking(address) as ask:
        return marks_of_lab(ask, lab) if ask else {}


def hand_ins_to_mark(address: Address) -> dict[str, int]:
    """By lab, the hand-ins in which a part needs manual grading.

    Raises:
        GradebookError: as :func:`read_marks`.
    """
    with _asking(address) as ask:
        return dict(iter(ask(_TO_MARK, {}))) if ask else {}


@contextmanager
def _asking(address: Address) -> Iterator[Ask | None]:
    """A way to ask a gradebook; None if there is none."""
    if address.file is None:
        with _asking_by_url(address) as ask:
            yield ask
        return
    if not address.file.is_file():
        yield None
        return
    # Not read-only: reading rolls back the partial writes of a killed program.
    uri = f"{address.file.resolve().as_uri()}?mode=rw"
    try:
        with closing(sqlite3.connect(uri, timeout=address.wait, uri=True)) as connection:
            yield connection.execute
    except sqlite3.DatabaseError as error:
        if is_locked(error):
            raise GradebookError(locked(address)) from error
        raise GradebookError(
            f"the gradebook {address.shown} cannot be read ({error}); restore it from a backup, or "
            "delete it and run `lab grade`, which writes all but the manual marks"
        ) from error


@contextmanager
def _asking_by_url(address: Address) -> Iterator[Ask | None]:
    from sqlalchemy import create_engine, inspect, text

    with plain_errors(address):
        engine = create_engine(address.url)
        try:
            with engine.connect() as link:
                if inspect(link).has_table("submitted_assignment"):
                    yield lambda query, values: link.execute(text(query), values)
                else:
                    yield None
        finally:
            engine.dispose()


def marks_now(
    address: Address, lab: str, late: Mapping[str, Lateness], released: Released
) -> dict[str, Marks]:
    """The marks of each student with the late penalty of today's dates; nothing is written.

    Penalties change with manual marks, with dates, and with extensions.

    Args:
        late: by student, how late the hand-in is.
        released: the lab's notebook, which knows what its cells were called before.
    """
    return {
        student: replace(
            marks,
            marks=released.with_new_names(marks.marks),
            comments=released.with_new_names(marks.comments),
            penalty=late[student].penalty(marks.points) if student in late else marks.penalty,
        )
        for student, marks in read_marks(address, lab).items()
    }
