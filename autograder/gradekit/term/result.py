"""One student's term: which labs count, what is dropped, and the result.

Reads no file and no clock. Sums are exact fractions until the end, so that a table worked out by
hand has the same hundredths.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from fractions import Fraction
from typing import Any

from gradekit.course import TermRule
from gradekit.export.scores import Score, ScoreState
from gradekit.roster.students import Student


class Counting(StrEnum):
    """Whether a lab counts in a student's result, in the words of the tables."""

    YES = "yes"
    DROPPED = "dropped"
    NO_WEIGHT = "no weight"
    NOT_YET = "not yet"


@dataclass(frozen=True)
class LabResult:
    """One student's part in one lab.

    Attributes:
        score: points and state, after lateness.
        weight: of the lab in the term.
        own_due: the student's own due date; None without an extension.
        counts: whether it is in the result.
    """

    lab: str
    score: Score
    weight: float
    own_due: datetime | None
    counts: Counting

    @property
    def share(self) -> Fraction:
        """The part of the lab's points, from 0 to 1 and more; 0 if nothing was handed in."""
        if self.score.score is None or not self.score.of:
            return Fraction(0)
        return _exact(self.score.score) / _exact(self.score.of)

    @property
    def percent(self) -> float | None:
        """The share in per cent; None as long as there is no result, 0 for a missing one."""
        if self.counts is Counting.NOT_YET:
            return None
        return hundredths(100 * self.share)

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        late = self.score.lateness
        return {
            "state": str(self.score.state), "score": self.score.score, "of": self.score.of,
            "percent": self.percent, "days_late": late.days, "slip_days": late.slipped,
            "penalty": self.score.penalty,
            "extended_to": self.own_due.isoformat() if self.own_due else None,
            "weight": self.weight, "counts": str(self.counts),
        }  # fmt: skip


@dataclass(frozen=True)
class StudentTerm:
    """One student's row.

    Attributes:
        labs: in the order of the course.
        slip_days: of the course; 0 if it has none.
        total: in per cent, rounded half up to a hundredth; None if no lab counts yet.
        grade: by the course's scale; empty without one.
        to_come: whether other labs with a weight have no results yet.
    """

    student: Student
    labs: tuple[LabResult, ...]
    slip_days: int
    total: float | None
    grade: str
    to_come: bool = False

    @property
    def is_final(self) -> bool:
        """Whether every lab with a weight has a final result."""
        return not self.to_come and all(
            lab.score.is_final and lab.counts is not Counting.NOT_YET
            for lab in self.labs
            if lab.counts is not Counting.NO_WEIGHT
        )

    @property
    def days_late(self) -> int:
        """Days late in all labs, slip days included."""
        return sum(lab.score.lateness.days for lab in self.labs)

    @property
    def slipped(self) -> int:
        """Slip days that were used."""
        return sum(lab.score.lateness.slipped for lab in self.labs)

    @property
    def dropped(self) -> tuple[str, ...]:
        """The labs that were dropped."""
        return tuple(lab.lab for lab in self.labs if lab.counts is Counting.DROPPED)

    @property
    def missing(self) -> tuple[str, ...]:
        """The labs for which nothing was handed in, and can be no more."""
        return tuple(
            lab.lab
            for lab in self.labs
            if lab.score.state is ScoreState.MISSING and lab.counts is not Counting.NOT_YET
        )

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        student = self.student
        return {
            "id": student.id, "name": student.name, "section": student.section,
            "labs": {lab.lab: lab.to_json() for lab in self.labs}, "days_late": self.days_late,
            "slip_days_used": self.slipped, "slip_days_left": self.slip_days - self.slipped,
            "missing": list(self.missing), "dropped": list(self.dropped), "total": self.total,
            "grade": self.grade or None, "final": self.is_final,
        }  # fmt: skip


def term_of(
    student: Student,
    labs: Sequence[LabResult],
    rule: TermRule,
    slip_days: int,
    to_come: bool = False,
) -> StudentTerm:
    """One student's term, with the lowest labs dropped.

    Args:
        labs: none is dropped yet.
        to_come: whether other labs with a weight have no results yet.
    """
    dropped = _lowest(labs, rule.drop_lowest)
    final = tuple(
        replace(lab, counts=Counting.DROPPED) if lab.lab in dropped else lab for lab in labs
    )
    total = _total([lab for lab in final if lab.counts is Counting.YES])
    return StudentTerm(student, final, slip_days, total, grade_of(total, rule.scale), to_come)


def _lowest(labs: Sequence[LabResult], count: int) -> set[str]:
    """The labs to drop: those with the lowest shares, but never all that count.

    Of equal shares the one that weighs most is dropped, which is best for the student, and then the
    earliest.
    """
    counting = [lab for lab in labs if lab.counts is Counting.YES]
    order = sorted(counting, key=lambda lab: (lab.share, -lab.weight))
    return {lab.lab for lab in order[: max(0, min(count, len(order) - 1))]}


def _total(counting: Sequence[LabResult]) -> float | None:
    whole = sum((_exact(lab.weight) for lab in counting), Fraction(0))
    if not whole:
        return None
    earned = sum((_exact(lab.weight) * lab.share for lab in counting), Fraction(0))
    return hundredths(100 * earned / whole)


def grade_of(total: float | None, scale: Mapping[str, float]) -> str:
    """The grade of a total; the total is rounded, so that what people read decides."""
    if total is None:
        return ""
    reached = [grade for grade, percent in scale.items() if total >= percent]
    return max(reached, key=lambda grade: scale[grade], default="")


def hundredths(value: Fraction) -> float:
    """A number rounded to hundredths, a half up, as by hand."""
    return math.floor(value * 100 + Fraction(1, 2)) / 100


def _exact(value: float) -> Fraction:
    """The number that is written down, and not the nearest binary one."""
    return Fraction(str(value))
