"""What one student's page shows, as values.

Tested in tests/gradekit/feedback/test_page.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from gradekit.results.records import ExerciseResult, State

if TYPE_CHECKING:
    from gradekit.feedback.solutions import Solution  # imports torch


@dataclass(frozen=True)
class ExerciseView:
    """One exercise on the page.

    Attributes:
        title: the heading above it in the notebook.
        earned: points that count; None if the grader failed and no TA gave any.
        result: the judge's, or None if there is none.
        code: the student's.
        comment: a TA's.
        is_manual: a TA's points count instead of the judge's.
        solution: the right answer, after the lab has closed.
        replaced: sentences on the earlier steps that lost points, and that this step's code calls
            or its advice names: here correct versions took their place.
    """

    name: str
    title: str
    points: float
    earned: float | None
    result: ExerciseResult | None
    code: str
    comment: str
    is_manual: bool
    solution: Solution | None = None
    replaced: tuple[str, ...] = ()


@dataclass(frozen=True)
class AnswerView:
    """One free-text answer on the page.

    Attributes:
        name: the question's id.
        earned: a TA's points; 0 if nothing was written; None until a TA has marked it.
        solution: a model answer, after the lab has closed; empty if there is none.
    """

    title: str
    points: float
    earned: float | None
    text: str
    comment: str
    name: str = ""
    solution: str = ""


@dataclass(frozen=True)
class Page:
    """Everything that one student's page shows."""

    course: str
    lab: str
    title: str
    student: str
    state: State
    reason: str
    notes: tuple[str, ...]
    submitted_at: datetime | None
    exercises: tuple[ExerciseView, ...]
    answers: tuple[AnswerView, ...]
    penalty: float
    late: str

    @property
    def is_graded(self) -> bool:
        """Whether there are results to show.

        Raises:
            ValueError: a page cannot have this state.
        """
        match self.state:
            case State.GRADED | State.LATE:
                return True
            case State.THEIRS | State.OURS:
                return False
            case state:
                raise ValueError(f"the page of {self.student} has the state {state!r}")

    @property
    def parts(self) -> tuple[ExerciseView | AnswerView, ...]:
        """All parts that earn points."""
        return (*self.exercises, *self.answers)

    @property
    def before_penalty(self) -> float:
        """Points before the late penalty."""
        return sum(part.earned or 0.0 for part in self.parts)

    @property
    def score(self) -> float:
        """Points that count."""
        return max(0.0, self.before_penalty - self.penalty)

    @property
    def points(self) -> float:
        """Points available."""
        return sum(part.points for part in self.parts)

    @property
    def is_final(self) -> bool:
        """Whether every part has been marked."""
        return all(part.earned is not None for part in self.parts)
