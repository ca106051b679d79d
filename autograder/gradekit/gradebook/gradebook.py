"""Results -> nbgrader's gradebook, one transaction a hand-in; and what people wrote there, back.

nbgrader's tables and classes are used as they are. Its own methods commit once a cell, which is a
disk flush each; here a hand-in is written in one go. What a person gave (manual points, comments,
extra credit) is never touched.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any, Self, TypeVar

from nbgrader import api
from nbgrader.utils import is_locked
from sqlalchemy import insert, select, update
from sqlalchemy.exc import IntegrityError, OperationalError

from gradekit.errors import GradebookError
from gradekit.gradebook.address import Address, plain_errors
from gradekit.gradebook.create import make_where_missing, open_gradebook
from gradekit.gradebook.entry import Entry
from gradekit.gradebook.marks import Mark, Marks, grade_of_answer, grade_of_test
from gradekit.submissions.released import Released, TargetCell

T = TypeVar("T")
_TRIES = 3
NO_RESPONSE = "No response."


@dataclass(frozen=True)
class _Lab:
    """A lab's rows in the gradebook, by the cells' names."""

    assignment: str
    notebook: str
    graded: Mapping[str, str]
    commented: Mapping[str, str]
    tests: Mapping[str, TargetCell]
    answers: frozenset[str]


class Book:
    """An open gradebook. Use as a context manager.

    Raises:
        GradebookError: on entering, when the database cannot be opened.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        self._labs: dict[str, _Lab] = {}

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
        """Make the lab known, as ``nbgrader generate_assignment`` would, or bring it up to date.

        Raises:
            GradebookError: the gradebook has graded cells that the notebook no longer has.
        """
        self._transaction(lambda: self._register(lab, released, due))
        with self._reading():
            self._labs[lab] = self._rows(lab, released)

    def write(self, entry: Entry, answers_before: Mapping[str, str] | None = None) -> str:
        """Write one hand-in's results; what a person gave stays.

        Args:
            entry: the results; its lab was registered.
            answers_before: the free-text answers that a person may have marked: a mark for a text
                that has changed since asks for another look.

        Returns:
            The id of the submission's row.

        Raises:
            GradebookError: a score is higher than the gradebook's cell is worth.
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

    def marks(self, lab: str) -> dict[str, Marks]:
        """What the gradebook holds for each student who handed in `lab`, manual marks included."""
        with self._reading():
            return self._marks(lab)

    def _marks(self, lab: str) -> dict[str, Marks]:
        found: dict[str, dict[str, Mark]] = {}
        comments: dict[str, dict[str, str]] = {}
        penalties: dict[str, float] = {}
        for student, penalty in self._db.execute(
            _of_lab(
                lab,
                api.SubmittedAssignment.student_id,
                api.SubmittedNotebook.late_submission_penalty,
            )
        ):
            found[student], comments[student] = {}, {}
            penalties[student] = penalty or 0.0
        grade = api.Grade
        for student, name, *values in self._db.execute(
            _of_lab(
                lab,
                api.SubmittedAssignment.student_id,
                api.BaseCell.name,
                grade.auto_score,
                grade.manual_score,
                grade.extra_credit,
                grade.needs_manual_grade,
            )
            .join(grade, grade.notebook_id == api.SubmittedNotebook.id)
            .join(api.BaseCell, api.BaseCell.id == grade.cell_id)
        ):
            found[student][name] = Mark(*values)
        note = api.Comment
        for student, name, text in self._db.execute(
            _of_lab(lab, api.SubmittedAssignment.student_id, api.BaseCell.name, note.manual_comment)
            .join(note, note.notebook_id == api.SubmittedNotebook.id)
            .join(api.BaseCell, api.BaseCell.id == note.cell_id)
        ):
            if text and text.strip():
                comments[student][name] = text
        return {
            student: Marks(student, found[student], comments[student], penalties[student])
            for student in sorted(found)
        }

    def renew_penalties(self, lab: str, penalty: Callable[[str, float], float]) -> int:
        """Work the late penalties out anew, as after manual marking; returns how many changed.

        Args:
            penalty: from a student and their points before it, the points that come off.
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
            for attempt in range(1, _TRIES + 1):
                try:
                    result = work()
                    self._db.commit()
                    return result
                except (OperationalError, IntegrityError):
                    # Locked, or somebody else made the same row (a student's) at the same time.
                    self._db.rollback()
                    if attempt == _TRIES or time.monotonic() - start >= self.address.wait:
                        raise
                except BaseException:
                    self._db.rollback()
                    raise
        raise AssertionError

    def _register(self, lab: str, released: Released, due: datetime | None) -> None:
        moment = due.astimezone(UTC).replace(tzinfo=None) if due else None
        assignment = self._one(api.Assignment, name=lab)
        if assignment is None:
            assignment = api.Assignment(name=lab, course_id=self.address.course_id)
            self._db.add(assignment)
        assignment.duedate = moment
        self._db.flush()
        notebook = self._one(api.Notebook, name=released.name, assignment_id=assignment.id)
        if notebook is None:
            kernel = json.dumps(released.notebook.metadata.get("kernelspec", {}))
            notebook = api.Notebook(name=released.name, assignment=assignment, kernelspec=kernel)
            self._db.add(notebook)
            self._db.flush()
        self._register_cells(lab, notebook, released)

    def _register_cells(self, lab: str, notebook: Any, released: Released) -> None:
        graded = {cell.name: cell for cell in notebook.grade_cells}
        solved = {cell.name for cell in notebook.solution_cells}
        sources = {cell.name for cell in notebook.source_cells}
        now = {target.grade_id for target in released.targets if target.kind in ("test", "answer")}
        gone = sorted(set(graded) - now)
        if gone:
            raise GradebookError(
                f"{lab}: the gradebook has points for {', '.join(gone)}, which the released "
                f"notebook no longer has; put them back, or start a new gradebook"
            )
        for target in released.targets:
            name, cell = target.grade_id, target.cell
            if target.kind in ("test", "answer"):
                row = graded.get(name) or api.GradeCell(name=name, notebook=notebook)
                row.max_score, row.cell_type = target.points, cell.cell_type
                self._db.add(row)
            if target.kind in ("solution", "answer") and name not in solved:
                self._db.add(api.SolutionCell(name=name, notebook=notebook))
            # nbgrader's own release step knows the test cells' hidden part, and that is kept.
            if name not in sources:
                self._db.add(
                    api.SourceCell(
                        name=name,
                        notebook=notebook,
                        cell_type=cell.cell_type,
                        source=cell.source,
                        locked=is_locked(cell),
                        checksum=cell.metadata.nbgrader.get("checksum"),
                    )
                )

    def _rows(self, lab: str, released: Released) -> _Lab:
        assignment = self._one(api.Assignment, name=lab)
        notebook = self._one(api.Notebook, name=released.name, assignment_id=assignment.id)
        graded = {cell.name: cell.id for cell in notebook.grade_cells}
        commented = {cell.name: cell.id for cell in notebook.solution_cells}
        return _Lab(
            assignment.id,
            notebook.id,
            graded,
            commented,
            {target.grade_id: target for target in released.tests},
            frozenset(target.grade_id for target in released.answers),
        )

    def _write(self, lab: _Lab, entry: Entry, before: Mapping[str, str]) -> str:
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
                    "needs_manual_grade": mark.open,
                }
            )
        db.execute(update(grade), updates)
        self._comment(lab, notebook, entry)
        self._set_penalty(notebook, round(total * entry.late_percent / 100, 2))
        return row

    def _submission(self, lab: _Lab, student: str, when: Mapping[str, Any]) -> tuple[str, str]:
        """The ids of the submission and its notebook, made with all their rows where missing."""
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

    def _comment(self, lab: _Lab, notebook: str, entry: Entry) -> None:
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

    def _one(self, table: Any, **values: Any) -> Any:
        return self._db.query(table).filter_by(**values).one_or_none()


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
