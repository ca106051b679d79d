"""The results of a run of ``lab grade``, as values.

Tested in tests/gradekit/grading/test_grade.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gradekit.grading.changes import ScoreChange
from gradekit.results.records import State


@dataclass(frozen=True)
class Row:
    """One student's line of the table.

    Attributes:
        exercises: points by exercise; None if there is no result.
        earned: their sum, before lateness and without manual marks; None if nothing was graded.
        points: available points for code.
        score: the points that count, after lateness and with manual marks; None if nothing was
            graded.
        final: whether no part needs manual grading.
        change: if the points are other ones than after the last run.
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
    score: float | None = None
    final: bool = False
    change: ScoreChange | None = None

    def to_json(self) -> dict[str, Any]:
        """The record that ``lab grade --json`` prints."""
        return {
            "student": self.student, "state": str(self.state), "points": dict(self.exercises),
            "earned": self.earned, "of": self.points,
            "advice": {name: list(keys) for name, keys in self.advice.items()},
            "reason": self.reason, "seconds": self.seconds, "sandbox": list(self.sandboxes),
            "score": self.score, "final": self.final,
            "change": self.change.to_json() if self.change else None,
        }  # fmt: skip


@dataclass(frozen=True)
class GradingSummary:
    """One run over one lab.

    Attributes:
        graded: the number of submissions that were graded in this run.
        missing: ids of students.csv without a hand-in; empty if only some students were graded.
        look_at: a sentence for each manual mark that was given for another result.
    """

    lab: str
    rows: tuple[Row, ...]
    graded: int
    seconds: float
    missing: tuple[str, ...] = ()
    look_at: tuple[str, ...] = ()

    @property
    def changes(self) -> tuple[ScoreChange, ...]:
        """Those whose points moved."""
        return tuple(row.change for row in self.rows if row.change)

    def to_json(self) -> list[dict[str, Any]]:
        """A record for each hand-in, and one for each student of students.csv without one."""
        absent = [
            {"student": student, "state": "missing", "score": None, "final": True}
            for student in self.missing
        ]
        return [*(row.to_json() for row in self.rows), *absent]

    @property
    def broken_ours(self) -> bool:
        """Whether the grader failed on any submission."""
        return any(row.state is State.OURS for row in self.rows)
