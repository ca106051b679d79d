"""The late rule: how late a hand-in is, and what that costs. Reads no database and no clock."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from gradekit.course import Course, LateRule

_DAY = 24 * 60 * 60


@dataclass(frozen=True)
class Lateness:
    """How late a hand-in is.

    Attributes:
        seconds: after the due date (extensions included); 0 within the grace period.
        days: the same in days, each begun day counted whole.
        percent: of the points earned, the part that is taken off.
    """

    seconds: float = 0.0
    days: int = 0
    percent: float = 0.0

    @property
    def is_late(self) -> bool:
        """Whether the grace period is over."""
        return self.seconds > 0

    def penalty(self, score: float) -> float:
        """The points to take off `score`, rounded to a hundredth, at most all of them."""
        return min(max(score, 0.0), round(max(score, 0.0) * self.percent / 100, 2))

    @property
    def sentence(self) -> str:
        """The penalty in words; empty if the hand-in was on time."""
        if not self.is_late:
            return ""
        days = "1 day" if self.days == 1 else f"{self.days} days"
        if self.percent >= 100:
            return f"Handed in {days} late, after the last day: it earns no points."
        if self.percent == 0:
            return f"Handed in {days} late; that costs nothing."
        return f"Handed in {days} late: {self.percent:g} % of the points are taken off."


def lateness(rule: LateRule, seconds: float) -> Lateness:
    """The lateness of a hand-in `seconds` after the due date.

    Days are counted from the due date, not from the end of the grace period: the grace period
    forgives a few minutes, but it does not move the due date.
    """
    if seconds <= rule.grace_minutes * 60:
        return Lateness()
    days = math.ceil(seconds / _DAY)
    percent = 100.0 if days > rule.last_day else min(100.0, days * rule.percent_per_day)
    return Lateness(seconds, days, percent)


def lateness_of(course: Course, lab: str, student: str, submitted_at: datetime | None) -> Lateness:
    """How late `student` handed in `lab`; on time if the time is unknown."""
    if submitted_at is None:
        return Lateness()
    late_by = submitted_at - course.due(lab, student)
    return lateness(course.values.late, late_by.total_seconds())


def closes(course: Course, lab: str) -> datetime:
    """The last moment at which a hand-in of `lab` can still earn points, whoever hands it in."""
    rule = course.values.late
    extended = (course.due(lab, e.student) for e in course.values.extension if e.lab == lab)
    days = rule.last_day
    if rule.percent_per_day:  # with 50 % per day, the second day earns nothing
        days = min(days, math.ceil(100 / rule.percent_per_day) - 1)
    open_for = max(timedelta(days=days), timedelta(minutes=rule.grace_minutes))
    return max([course.dates(lab).due, *extended]) + open_for
