"""A TA's mark for one answer, read from the gradebook and written to it, as formgrader does.

Tested in tests/gradekit/gradebook/test_manual_mark.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nbgrader import api
from sqlalchemy import func, select, update

from gradekit.errors import GradebookError
from gradekit.gradebook.gradebook import Book


@dataclass(frozen=True)
class ManualMark:
    """What a TA gave for one answer.

    Attributes:
        points: None if nobody has given any.
        comment: for the student; empty for none.
        needs_manual_grade: a TA must look at it, for the first time or again.
    """

    points: float | None = None
    comment: str = ""
    needs_manual_grade: bool = True


class MarkChangedError(GradebookError):
    """Another TA has marked the answer meanwhile.

    Attributes:
        now: the mark that is in the gradebook.
    """

    def __init__(self, now: ManualMark) -> None:
        points = "no points" if now.points is None else f"{now.points:g} points"
        super().__init__(f"another TA has marked this answer meanwhile: {points}")
        self.now = now


def give_mark(
    book: Book, lab: str, student: str, cell: str, seen: ManualMark, mark: ManualMark
) -> None:
    """Write a mark with its comment, in one transaction.

    Args:
        seen: the mark that the TA saw and changed.

    Raises:
        MarkChangedError: the gradebook has another one now; nothing is written.
        GradebookError: the gradebook has no such answer.
    """
    book.transaction(lambda db: _give(db, lab, student, cell, seen, mark))


def _give(db: Any, lab: str, student: str, cell: str, seen: ManualMark, mark: ManualMark) -> None:
    grade, comment = api.Grade, api.Comment
    marked = db.execute(
        _row(lab, student, cell, grade, grade.id, grade.manual_score, grade.needs_manual_grade)
    ).first()
    said = db.execute(_row(lab, student, cell, comment, comment.id, comment.manual_comment)).first()
    if marked is None or said is None:
        raise GradebookError(
            f"the gradebook has no answer {cell} of this student; run `lab grade {lab}`"
        )
    # Both updates ask for what was seen, so no other program can write in between unnoticed.
    points, text = grade.manual_score, func.coalesce(comment.manual_comment, "")
    as_seen = (
        points.is_not_distinct_from(seen.points),
        grade.needs_manual_grade == seen.needs_manual_grade,
    )
    changed = [
        db.execute(
            update(grade)
            .where(grade.id == marked[0], *as_seen)
            .values(manual_score=mark.points, needs_manual_grade=mark.needs_manual_grade)
        ),
        db.execute(
            update(comment)
            .where(comment.id == said[0], text == seen.comment)
            .values(manual_comment=mark.comment or None)
        ),
    ]
    if any(result.rowcount != 1 for result in changed):
        raise MarkChangedError(ManualMark(marked[1], said[1] or "", bool(marked[2])))


def _row(lab: str, student: str, cell: str, table: Any, *columns: Any) -> Any:
    submitted, notebook = api.SubmittedAssignment, api.SubmittedNotebook
    return (
        select(*columns)
        .select_from(table)
        .join(notebook, notebook.id == table.notebook_id)
        .join(submitted, submitted.id == notebook.assignment_id)
        .join(api.Assignment, api.Assignment.id == submitted.assignment_id)
        .join(api.BaseCell, api.BaseCell.id == table.cell_id)
        .where(
            api.Assignment.name == lab,
            submitted.student_id == student,
            api.BaseCell.name == cell,
        )
    )
