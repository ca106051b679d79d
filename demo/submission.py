"""A student's hand-in, and what it should come to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

State = Literal["graded", "late", "broken: theirs"]


@dataclass(frozen=True)
class Expected:
    """What grading a hand-in should come to.

    Attributes:
        points: by exercise, before the late rule.
        state: in the words of `lab grade`.
        words: what must stand in the note, capitals ignored.
        mistakes: the known mistake that must be recognised, by exercise.
        share: of the points, what the late rule leaves.
    """

    points: Mapping[str, float]
    state: State = "graded"
    words: tuple[str, ...] = ()
    mistakes: Mapping[str, str] = field(default_factory=dict)
    share: float = 1.0

    @property
    def total(self) -> float:
        """The points altogether, before the late rule."""
        return round(sum(self.points.values()), 2)

    @property
    def score(self) -> float:
        """What counts in the end."""
        return round(self.total * self.share, 2)


@dataclass(frozen=True)
class DemoSubmission:
    """One student's hand-in.

    Attributes:
        files: what was handed in, by file name.
        why: what is special about it, in a few words.
        hostile: whether it tries to gain or to harm something.
    """

    student: str
    why: str
    files: Mapping[str, bytes]
    expected: Expected
    hostile: bool = field(default=False, kw_only=True)
