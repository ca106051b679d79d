"""``lab status``: where each lab of the course is, from its release to the pages.

Tested in tests/gradekit/report/test_status.py.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from gradekit.course import BUNDLES, Course
from gradekit.feedback.html import FEEDBACK
from gradekit.gradebook.address import address_of
from gradekit.gradebook.reading import hand_ins_to_mark
from gradekit.late import closes
from gradekit.results.folder import journal_path
from gradekit.results.records import State
from gradekit.results.states import states_in
from gradekit.roster.students import load_roster
from gradekit.submissions.folder import SUBMITTED
from gradekit.wording import counted


class Phase(StrEnum):
    """Where a lab is in the calendar."""

    COMING = "not released"
    OPEN = "open"
    LATE = "late days"
    CLOSED = "closed"


@dataclass(frozen=True)
class LabStatus:
    """One lab.

    Attributes:
        released: whether its bundle was made.
        closes: when a hand-in can no longer earn points.
        students: of students.csv; None if there is no such list.
        collected: hand-ins in ``submitted/``.
        graded: of these, how many have a result.
        broken: of these, how many the grader failed on.
        to_mark: hand-ins with a part that needs manual grading.
        pages: feedback pages that were written.
    """

    lab: str
    phase: Phase
    released: bool
    release: datetime
    due: datetime
    closes: datetime
    students: int | None
    collected: int
    graded: int
    broken: int
    to_mark: int
    pages: int

    @property
    def to_grade(self) -> int:
        """Hand-ins without a result."""
        return self.collected - self.graded

    @property
    def to_do(self) -> tuple[str, ...]:
        """What waits for staff, with the command; empty if nothing does."""
        return tuple(self._to_do())

    def _to_do(self) -> Iterator[str]:
        if not self.released and self.phase in (Phase.OPEN, Phase.LATE):
            yield f"no bundle was made: lab release {self.lab}"
        if self.phase is Phase.CLOSED and not self.collected:
            yield f"nothing was collected: lab collect {self.lab} FILE"
        if self.to_grade:
            yield f"{counted(self.to_grade, 'hand-in')} to grade: lab grade {self.lab}"
        if self.broken:
            failed = counted(self.broken, "hand-in")
            yield f"the grader failed on {failed}: lab grade {self.lab} says why"
        if self.to_mark:
            yield f"{counted(self.to_mark, 'hand-in')} to mark manually: lab mark {self.lab}"
        if self.graded > self.pages:
            without = counted(self.graded - self.pages, "hand-in")
            yield f"{without} without a page of feedback: lab feedback {self.lab}"

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        dates = {name: getattr(self, name).isoformat() for name in ("release", "due", "closes")}
        return {
            **vars(self), **dates, "phase": str(self.phase), "to_grade": self.to_grade,
            "to_do": list(self.to_do),
        }  # fmt: skip


def status_of(course: Course, now: datetime) -> tuple[LabStatus, ...]:
    """Every lab, in the order of course.toml.

    Args:
        now: with its time zone.

    Raises:
        CourseError, RosterError, GradebookError: the course's files contradict each other, or the
            gradebook cannot be read.
    """
    collected = _labs_by_student(course.root / SUBMITTED)
    pages = Counter(
        lab for labs in _labs_by_student(course.root / FEEDBACK).values() for lab in labs
    )
    to_mark = hand_ins_to_mark(address_of(course))
    students = len(load_roster(course.root)) or None
    return tuple(
        _status(course, lab, now, collected, pages[lab], to_mark.get(lab, 0), students)
        for lab in course.labs
    )


def _status(
    course: Course,
    lab: str,
    now: datetime,
    collected: dict[str, set[str]],
    pages: int,
    to_mark: int,
    students: int | None,
) -> LabStatus:
    table, end = course.lab(lab), closes(course, lab)
    there = [student for student, labs in collected.items() if lab in labs]
    states = states_in(journal_path(course, lab))
    known = [states[student] for student in there if student in states]
    return LabStatus(
        lab=lab,
        phase=_phase(now, table.release, table.due, end),
        released=(course.root / BUNDLES / lab).is_dir(),
        release=table.release,
        due=table.due,
        closes=end,
        students=students,
        collected=len(there),
        graded=len(known),
        broken=known.count(State.OURS),
        to_mark=to_mark,
        pages=pages,
    )


def _phase(now: datetime, release: datetime, due: datetime, end: datetime) -> Phase:
    if now < release:
        return Phase.COMING
    if now <= due:
        return Phase.OPEN
    return Phase.LATE if now <= end else Phase.CLOSED


def _labs_by_student(folder: Path) -> dict[str, set[str]]:
    """The folders in each student's folder."""
    if not folder.is_dir():
        return {}
    with os.scandir(folder) as entries:
        students = [e for e in entries if not e.name.startswith(".") and e.is_dir()]
    return {student.name: set(os.listdir(student.path)) for student in students}
