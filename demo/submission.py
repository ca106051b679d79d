"""A student's submission, and its expected result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

State = Literal["graded", "late", "broken: theirs"]


@dataclass(frozen=True)
class Expected:
    """The expected result of grading a submission.

    Attributes:
        points: by exercise, before the late rule.
        state: in the words of `lab grade`.
        words: must appear in the note; upper and lower case are equal.
        mistakes: the known mistake that must be recognised, by exercise.
        factor: the part of the points that the late rule leaves.
    """

    points: Mapping[str, float]
    state: State = "graded"
    words: tuple[str, ...] = ()
    mistakes: Mapping[str, str] = field(default_factory=dict)
    factor: float = 1.0

    @property
    def total(self) -> float:
        """The sum of the points, before the late rule."""
        return round(sum(self.points.values()), 2)

    @property
    def score(self) -> float:
        """The sum of the points, after the late rule."""
        return round(self.total * self.factor, 2)


@dataclass(frozen=True)
class DemoSubmission:
    """One student's submission.

    Attributes:
        why: what is special about it, in a few words.
        files: contents by file name.
        hostile: whether it tries to gain points or to do harm.
    """

    student: str
    why: str
    files: Mapping[str, bytes]
    expected: Expected
    hostile: bool = field(default=False, kw_only=True)
