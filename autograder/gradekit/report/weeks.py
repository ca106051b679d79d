"""A term week by week: every student's results beside those of the class.

Labs differ in difficulty, so a student is compared with the class's median in the same lab, and not
with earlier percentages. Tested in tests/gradekit/report/test_weeks.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import mean, median
from typing import Any

from gradekit.export.scores import ScoreState
from gradekit.roster.students import Student
from gradekit.term.result import Counting, LabResult, StudentTerm
from gradekit.term.term import Term
from gradekit.wording import counted

FELL = 25.0  # percentage points, against the class: a quarter of a lab
_LATEST = 2  # labs that are compared with those before
_BEFORE = 2  # so many labs before them are needed, at least


@dataclass(frozen=True)
class Week:
    """One lab of the term.

    Attributes:
        handed_in: students with a hand-in; `students` is how many could hand in.
        median: of the percentages of those who handed in; None if there is none.
    """

    lab: str
    title: str
    students: int
    handed_in: int
    median: float | None


@dataclass(frozen=True)
class StudentWeeks:
    """One student's line.

    Attributes:
        percents: by lab; None where there is no result yet, 0 where nothing was handed in.
        missing: by lab, whether nothing was handed in.
        total: the result so far, in per cent; None if no lab counts yet.
        fall: by how many percentage points the latest labs are lower against the class than the
            labs before; None as long as there are too few labs.
    """

    student: Student
    percents: tuple[float | None, ...]
    missing: tuple[bool, ...]
    total: float | None
    fall: float | None

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "id": self.student.id, "name": self.student.name, "section": self.student.section,
            "percents": list(self.percents), "missing": list(self.missing), "total": self.total,
            "fall": self.fall,
        }  # fmt: skip


@dataclass(frozen=True)
class Weeks:
    """The whole term.

    Attributes:
        rows: in the order of students.csv.
        notes: what is not in it yet, one sentence each.
    """

    course: str
    made_at: datetime
    weeks: tuple[Week, ...]
    rows: tuple[StudentWeeks, ...]
    notes: tuple[str, ...]

    @property
    def fell(self) -> tuple[StudentWeeks, ...]:
        """Those who fell by much, the furthest first."""
        found = [row for row in self.rows if row.fall is not None and row.fall >= FELL]
        return tuple(sorted(found, key=lambda row: -(row.fall or 0)))

    def not_handed_in(self, row: StudentWeeks) -> list[str]:
        """The labs in which a student handed in nothing, which count as 0."""
        pairs = zip(self.weeks, row.missing, strict=True)
        return [week.lab for week, nothing in pairs if nothing]

    def sentences(self) -> list[str]:
        """What to know first; each sentence stands alone."""
        known = [week for week in self.weeks if week.median is not None]
        sentences = [f"{counted(len(self.rows), 'student')}, {counted(len(self.weeks), 'lab')}."]
        if len(known) > 1:
            low = min(known, key=lambda week: week.median or 0)
            sentences.append(
                f"The lowest median is {low.median:.0f}\N{NO-BREAK SPACE}%, in {low.lab}."
            )
        if any(row.fall is not None for row in self.rows):
            sentences.append(
                f"{counted(len(self.fell), 'student')} fell: compared with the class's "
                f"median, the latest labs are {FELL:.0f} percentage points or more below those "
                "before."
            )
        return sentences

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "course": self.course, "made_at": self.made_at.isoformat(timespec="seconds"),
            "labs": [dict(vars(week)) for week in self.weeks],
            "students": [row.to_json() for row in self.rows],
            "fell": [row.student.id for row in self.fell], "notes": list(self.notes),
        }  # fmt: skip


def weeks_of(term: Term, made_at: datetime) -> Weeks:
    """The term week by week; labs without a weight are left out."""
    course = term.course
    labs = [lab for lab in term.labs if course.weight(lab)]
    kept = {row.student.id: [one for one in row.labs if one.lab in labs] for row in term.rows}
    columns = list(zip(*kept.values(), strict=True))
    weeks = tuple(
        _week(lab, course.lab(lab).title, column) for lab, column in zip(labs, columns, strict=True)
    )
    medians = [week.median for week in weeks]
    rows = tuple(_row(row, kept[row.student.id], medians) for row in term.rows)
    return Weeks(
        course.values.course.name, made_at.astimezone(course.timezone), weeks, rows, term.notes
    )


def _week(lab: str, title: str, results: Sequence[LabResult]) -> Week:
    counting = [one for one in results if one.counts is not Counting.NOT_YET]
    there = [one.percent for one in counting if one.score.state is not ScoreState.MISSING]
    known = [percent for percent in there if percent is not None]
    return Week(lab, title, len(counting), len(there), median(known) if known else None)


def _row(
    row: StudentTerm, labs: Sequence[LabResult], medians: Sequence[float | None]
) -> StudentWeeks:
    percents = tuple(lab.percent for lab in labs)
    distances = [
        percent - middle
        for percent, middle in zip(percents, medians, strict=True)
        if percent is not None and middle is not None
    ]
    missing = tuple(
        lab.score.state is ScoreState.MISSING and lab.counts is not Counting.NOT_YET for lab in labs
    )
    return StudentWeeks(row.student, percents, missing, row.total, _fall(distances))


def _fall(distances: Sequence[float]) -> float | None:
    """How much lower the latest distances from the median are than those before."""
    latest = min(_LATEST, len(distances) - _BEFORE)
    if latest < 1:
        return None
    return round(mean(distances[:-latest]) - mean(distances[-latest:]), 1)
