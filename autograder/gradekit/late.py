"""The late rule: how late a hand-in is, what that costs, and when a lab closes.

Reads no database and no clock. Students' notebooks count days with the same functions
(:mod:`attnlab.notebook.due`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_DOWN, Decimal

from attnlab.notebook.due import days_late, percent_off
from gradekit.course import Course, LateRule
from gradekit.wording import counted


@dataclass(frozen=True)
class Lateness:
    """How late a hand-in is.

    Attributes:
        seconds: after the due date (extensions included); 0 within the grace period.
        days: the same in days, each begun day counted whole.
        percent: of the points earned, the part that is taken off.
        slipped: days that the student's slip days cover.
        slip_left: the slip days that are left after that; None if the course has none.
    """

    seconds: float = 0.0
    days: int = 0
    percent: float = 0.0
    slipped: int = 0
    slip_left: int | None = None

    @property
    def is_late(self) -> bool:
        """Whether the grace period is over."""
        return self.seconds > 0

    def penalty(self, score: float) -> float:
        """The points to take off `score`, in hundredths (a half down), at most all of them."""
        earned = max(score, 0.0)
        # In decimals, because 10 % of 79.35 as a float may lie on either side of the half.
        exact = Decimal(str(round(earned, 6))) * Decimal(str(self.percent)) / 100
        return min(earned, float(exact.quantize(Decimal("0.01"), ROUND_HALF_DOWN)))

    @property
    def sentence(self) -> str:
        """The penalty in words; empty if the hand-in was on time."""
        if not self.is_late:
            return ""
        late = f"Handed in {counted(self.days, 'day')} late"
        if self.percent >= 100:
            return f"{late}, after the last day: it earns no points."
        cost = f"{self.percent:g} % of the points are taken off" if self.percent else ""
        if self.slipped:
            covers = "covers" if self.slipped == 1 else "cover"
            part = "part of that" if self.slipped < self.days else "that"
            left = f"{self.slip_left or 'none'} {'is' if (self.slip_left or 0) < 2 else 'are'} left"
            late = f"{late}: {counted(self.slipped, 'slip day')} {covers} {part}, and {left}"
            return f"{late}; {cost}." if cost else f"{late}."
        return f"{late}: {cost}." if cost else f"{late}; that costs nothing."


def lateness(rule: LateRule, seconds: float, slip_days: int | None = None) -> Lateness:
    """The lateness of a hand-in `seconds` after the due date.

    Days are counted from the due date, not from the end of the grace period: the grace period
    forgives a few minutes, but it does not move the due date. A hand-in that earns nothing anyway
    uses no slip day.

    Args:
        slip_days: what the student has left before this hand-in; by default all of the course's.
    """
    have = rule.slip_days if slip_days is None else slip_days
    shown = have if rule.slip_days else None
    days = days_late(seconds, rule.grace_minutes)
    if not days:
        return Lateness(slip_left=shown)
    slipped = min(days, have)
    percent = percent_off(days - slipped, rule.percent_per_day, math.inf)
    if days > rule.last_day or percent >= 100:
        return Lateness(seconds, days, 100.0, slip_left=shown)
    return Lateness(seconds, days, percent, slipped, shown and shown - slipped)


def lateness_of(
    course: Course,
    lab: str,
    student: str,
    submitted_at: datetime | None,
    earlier: Iterable[tuple[str, datetime | None]] = (),
) -> Lateness:
    """How late `student` handed in `lab`; on time if the time is unknown.

    Args:
        earlier: the student's hand-ins of earlier labs, in the order of the labs, because slip
            days are used in this order.
    """
    rule = course.values.late
    left = rule.slip_days
    for before, moment in earlier:
        left -= _lateness(course, before, student, moment, left).slipped
    return _lateness(course, lab, student, submitted_at, left)


def _lateness(
    course: Course, lab: str, student: str, submitted_at: datetime | None, slip_days: int
) -> Lateness:
    rule = course.values.late
    if submitted_at is None:
        return lateness(rule, 0, slip_days)
    # Both in UTC: Python subtracts two dates of one zone by their clocks, even if clocks change.
    late_by = submitted_at.astimezone(UTC) - course.due(lab, student).astimezone(UTC)
    return lateness(rule, late_by.total_seconds(), slip_days)


def closes(course: Course, lab: str) -> datetime:
    """The last moment at which a hand-in of `lab` can still earn points, extensions included."""
    return _closes(course, course.last_due(lab))


def closes_for(course: Course, lab: str, student: str) -> datetime:
    """The last moment at which a hand-in of `student` for `lab` can still earn points."""
    return _closes(course, course.due(lab, student))


def answers_public_after(course: Course, lab: str) -> datetime:
    """The moment after which the answers of `lab` may be public.

    That is when it closes, or its due date if course.toml says ``solutions = "known"``.
    """
    return course.lab(lab).due if course.solutions_known(lab) else closes(course, lab)


def answers_public_after_without_extensions(course: Course, lab: str) -> datetime:
    """As :func:`answers_public_after`, but without extensions.

    Grading goes by this one: an extension that is given after a later lab's release must not
    change the library on which that lab's hand-ins run.
    """
    due = course.lab(lab).due
    return due if course.solutions_known(lab) else _closes(course, due)


def _closes(course: Course, due: datetime) -> datetime:
    rule = course.values.late
    days = rule.last_day
    if rule.percent_per_day:  # with 50 % per day, the second day earns nothing
        days = min(days, rule.slip_days + math.ceil(100 / rule.percent_per_day) - 1)
    open_for = max(timedelta(days=days), timedelta(minutes=rule.grace_minutes))
    # In UTC, because lateness counts hours: a day in which clocks change has 23 or 25 of them.
    return (due.astimezone(UTC) + open_for).astimezone(course.timezone)
