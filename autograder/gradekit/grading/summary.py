"""The results of a run of ``lab grade``, as values.

Tested in tests/gradekit/grading/test_grade.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gradekit.results.records import State


@dataclass(frozen=True)
class Row:
    """One student's line of the table.

    Attributes:
        exercises: points by exercise; None if there is no result.
        earned: their sum, before lateness and without manual marks; None if nothing was graded.
        points: available points.
        advice: names of the known mistakes that were recognised, by exercise.
        sandboxes: the levels of isolation that the results were computed at.
    """

    student: str
    state: State
    exercises: Mapping[str, float | None]
    earned: float | None
    points: float
    advice: Mapping[str, tuple[str, ...]]
    reason: str
    seconds: float
    sandboxes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The record that ``lab grade --json`` prints."""
        return {
            "student": self.student, "state": str(self.state), "points": dict(self.exercises),
            "earned": self.earned, "of": self.points,
            "advice": {name: list(keys) for name, keys in self.advice.items()},
            "reason": self.reason, "seconds": self.seconds, "sandbox": list(self.sandboxes),
        }  # fmt: skip


@dataclass(frozen=True)
class GradingSummary:
    """One run over one lab.

    Attributes:
        graded: the number of submissions that were graded in this run.
    """

    lab: str
    rows: tuple[Row, ...]
    graded: int
    seconds: float

    @property
    def broken_ours(self) -> bool:
        """Whether the grader failed on any submission."""
        return any(row.state is State.OURS for row in self.rows)
