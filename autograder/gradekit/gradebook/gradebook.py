"""Writes results to nbgrader's gradebook, and reads manual marks and comments from it.

nbgrader's tables and classes are used unchanged. Its own methods commit once per cell, and each
commit is a disk flush; here a submission is one transaction. Manual points, comments and extra
credit are never changed.

Tested in tests/gradekit/gradebook/test_gradebook.py and test_postgresql.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Self, TypeVar

from nbgrader import api
from sqlalchemy import insert, select, text, update
from sqlalchemy.exc import IntegrityError, OperationalError

from gradekit.errors import GradebookError
from gradekit.gradebook.address import Address, plain_errors
from gradekit.gradebook.create import make_where_missing, open_gradebook
from gradekit.gradebook.entry import Entry
from gradekit.gradebook.lab_rows import LabRows, find_rows, register_rows
from gradekit.gradebook.marks import Mark, Marks, grade_of_answer, grade_of_test
from gradekit.gradebook.reading import marks_of_lab
from gradekit.gradebook.students import write_students
from gradekit.roster.students import Roster
from gradekit.submissions.released import Released

T = TypeVar("T")
_TRIES = 3
NO_RESPONSE = "No response."


class Book:
    """An open gradebook. Use as a context manager.

    Raises:
        GradebookError: on entering, if the database cannot be opened.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        self._labs: dict[str, LabRows] = {}

    def __enter__(self) -> Self:
        url = self.address.url
        if url.startswith("sqlite:") and "timeout=" not in url:
            # formgrader may be writing at the same time; its transactions are short.
            url += f"{'&' if '?' in url else '?'}timeout={self.address.wait:g}"
        with plain_errors(self.address):
            make_where_missing(self.address)
            self._gradebook = open_gradebook(url, self.address.course_id)
        self._db = self._gradebook.db
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._gradebook.close()

    def register(self, lab: str, released: Released, due: datetime | None) -> None:
        """Add the lab, as ``nbgrader generate_assignment`` does, or update it.

        Raises:
            GradebookError: the gradebook has graded cells that the notebook no longer has.
        """
        course_id = self.address.course_id
        self._transaction(lambda: register_rows(self._db, course_id, lab, released, due))
        with self._reading():
            self._labs[lab] = find_rows(self._db, lab, released)

    def write(self, entry: Entry, answers_before: Mapping[str, str] | None = None) -> str:
        """Write one submission's results; manual points and comments stay.

        Args:
            entry: the results; its lab is registered.
            answers_before: the free-text answers that a TA may have marked. If a text has changed
                since then, its mark needs a new look.

        Returns:
            The id of the submission's row.

        Raises:
            GradebookError: a score is above the points of the gradebook's cell.
        """
        lab = self._labs[entry.lab]
        for name, target in lab.tests.items():
            score = entry.scores.get(target.exercise)
            if score is not None and score > target.points + 1e-9:
                raise GradebookError(
                    f"{entry.lab}: {target.exercise} earned {score:g} points, but the cell {name} "
                    f"is worth {target.points:g} in the released notebook; "
                    f"run `lab build {entry.lab}`"
                )
        return self._transaction(lambda: self._write(lab, entry, answers_before or {}))

    def enrol(self, roster: Roster) -> None:
        """Bring nbgrader's table of students to the roster; nobody is removed from it."""
        self._transaction(lambda: write_students(self._db, roster))

    def remove(self, lab: str, student: str) -> None:
        """Remove a submission with all its marks and comments."""
        self._transaction(lambda: self._gradebook.remove_submission(lab, student))

    def transaction(self, work: Callable[[Any], T]) -> T:
        """Run `work` with the database session, and commit; it may run again after a conflict."""
        return self._transaction(lambda: work(self._db))

    def marks(self, lab: str) -> dict[str, Marks]:
        """The marks of each student who handed in `lab`, manual ones included."""
        with self._reading():
            return marks_of_lab(lambda query, values: self._db.execute(text(query), values), lab)

    def renew_penalties(self, lab: str, penalty: Callable[[str, float], float]) -> int:
        """Recalculate the late penalties after manual marking; returns the number of changes.

        Args:
            penalty: from a student and the points before the penalty, the points to subtract.
        """
        stale = {
            marks.student: new
            for marks in self.marks(lab).values()
            if (new := penalty(marks.student, marks.points)) != marks.penalty
        }

        def renew() -> None:
            query = _of_lab(lab, api.SubmittedAssignment.student_id, api.SubmittedNotebook.id)
            rows = dict(iter(self._db.execute(query)))
            for student, points in stale.items():
                self._set_penalty(rows[student], points)

        if stale:
            self._transaction(renew)
        return len(stale)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with plain_errors(self.address):
            try:
                yield
            finally:
                self._db.rollback()

    def _transaction(self, work: Callable[[], T]) -> T:
        start = time.monotonic()
        with plain_errors(self.address):
            for number in range(1, _TRIES + 1):
                try:
                    result = work()
                    self._db.commit()
                    return result
                except (OperationalError, IntegrityError):
                    # Locked, or another program added the same row (a student's) at the same time.
                    self._db.rollback()
                    if number == _TRIES or time.monotonic() - start >= self.address.wait:
                        raise
                except BaseException:
                    self._db.rollback()
                    raise
        raise AssertionError

    def _write(self, lab: LabRows, entry: Entry, before: Mapping[str, str]) -> str:
        db = self._db
        if db.execute(select(api.Student.id).filter_by(id=entry.student)).first() is None:
            db.execute(insert(api.Student), [{"id": entry.student}])
        extension = timedelta(seconds=entry.extension) if entry.extension else None
        when = {"timestamp": entry.submitted_at, "extension": extension}
        row, notebook = self._submission(lab, entry.student, when)
        grade = api.Grade
        known = {
            cell: (row_id, Mark(*values))
            for cell, row_id, *values in db.execute(
                select(
                    grade.cell_id,
                    grade.id,
                    grade.auto_score,
                    grade.manual_score,
                    grade.extra_credit,
                    grade.needs_manual_grade,
                ).where(grade.notebook_id == notebook)
            )
        }
        updates, total = [], 0.0
        for name, cell in lab.graded.items():
            if name in lab.answers:
                text = None if entry.answers is None else entry.answers.get(name, "")
                mark = grade_of_answer(known[cell][1], text, before.get(name))
            else:
                score = entry.scores.get(lab.tests[name].exercise)
                mark = grade_of_test(known[cell][1], score)
            total += mark.score
            updates.append(
                {
                    "id": known[cell][0],
                    "auto_score": mark.auto,
                    "needs_manual_grade": mark.needs_manual_grade,
                }
            )
        db.execute(update(grade), updates)
        self._comment(lab, notebook, entry)
        self._set_penalty(notebook, round(total * entry.late_percent / 100, 2))
        return row

    def _submission(self, lab: LabRows, student: str, when: Mapping[str, Any]) -> tuple[str, str]:
        """The ids of the submission and its notebook; missing rows are added."""
        db, submitted, notebook = self._db, api.SubmittedAssignment, api.SubmittedNotebook
        row = db.execute(
            select(submitted.id).filter_by(assignment_id=lab.assignment, student_id=student)
        ).scalar()
        if row is None:
            row = api.new_uuid()
            whose = {"id": row, "assignment_id": lab.assignment, "student_id": student}
            db.execute(insert(submitted), [{**whose, **when}])
        else:
            db.execute(update(submitted), [{"id": row, **when}])
        own = db.execute(
            select(notebook.id).filter_by(assignment_id=row, notebook_id=lab.notebook)
        ).scalar()
        if own is None:
            own = api.new_uuid()
            db.execute(
                insert(notebook), [{"id": own, "assignment_id": row, "notebook_id": lab.notebook}]
            )
        for table, cells in ((api.Grade, lab.graded), (api.Comment, lab.commented)):
            have = set(db.execute(select(table.cell_id).filter_by(notebook_id=own)).scalars())
            fresh = [{"cell_id": c, "notebook_id": own} for c in cells.values() if c not in have]
            if fresh:
                db.execute(insert(table), fresh)
        return row, own

    def _comment(self, lab: LabRows, notebook: str, entry: Entry) -> None:
        for name in lab.answers:
            empty = entry.answers is not None and not entry.answers.get(name)
            self._db.execute(
                update(api.Comment)
                .where(
                    api.Comment.notebook_id == notebook,
                    api.Comment.cell_id == lab.commented[name],
                )
                .values(auto_comment=NO_RESPONSE if empty else None)
            )

    def _set_penalty(self, notebook: str, points: float) -> None:
        self._db.execute(
            update(api.SubmittedNotebook)
            .where(api.SubmittedNotebook.id == notebook)
            .values(late_submission_penalty=points or None)
        )


def _of_lab(lab: str, *columns: Any) -> Any:
    """A query for columns of each submitted notebook of a lab."""
    submitted, notebook = api.SubmittedAssignment, api.SubmittedNotebook
    return (
        select(*columns)
        .select_from(submitted)
        .join(api.Assignment, api.Assignment.id == submitted.assignment_id)
        .join(notebook, notebook.assignment_id == submitted.id)
        .where(api.Assignment.name == lab)
    )
