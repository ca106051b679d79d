"""One cell's mark in the gradebook, and how a new result changes it.

Tested in tests/gradekit/gradebook/test_marks.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Mark:
    """One graded cell of one student, as nbgrader keeps it.

    Attributes:
        auto: the judge's points; None if there are none (free text, or the grader failed).
        manual: a TA's points, which count instead.
        extra: a TA's extra points.
        needs_manual_grade: a TA must look at it.
    """

    auto: float | None = None
    manual: float | None = None
    extra: float | None = None
    needs_manual_grade: bool = True

    @property
    def score(self) -> float:
        """The points that count."""
        given = self.auto if self.manual is None else self.manual
        return (given or 0.0) + (self.extra or 0.0)

    @property
    def is_known(self) -> bool:
        """Whether there are points; without any, the mark is not 0 but unknown."""
        return self.auto is not None or self.manual is not None


@dataclass(frozen=True)
class Marks:
    """One student's marks for one lab.

    Attributes:
        marks: by the graded cell's id.
        comments: a TA's, by the cell's id.
        penalty: points to subtract for lateness.
    """

    student: str
    marks: Mapping[str, Mark]
    comments: Mapping[str, str]
    penalty: float

    @property
    def points(self) -> float:
        """The points before the penalty."""
        return sum(mark.score for mark in self.marks.values())

    @property
    def score(self) -> float:
        """The points after the penalty."""
        return max(0.0, self.points - self.penalty)

    @property
    def is_complete(self) -> bool:
        """Whether every cell has points and none waits for a TA."""
        return all(mark.is_known and not mark.needs_manual_grade for mark in self.marks.values())


def grade_of_test(known: Mark, score: float | None) -> Mark:
    """The mark of an autograded cell. It needs a look if manual points are for another result.

    Args:
        known: the mark in the gradebook now.
        score: the judge's points; None if the grader failed. Then there is no score, neither an
            old one nor 0, and a TA must look at it.
    """
    if score is None:
        return replace(known, auto=None, needs_manual_grade=True)
    if known.manual is None:
        return replace(known, auto=score, needs_manual_grade=False)
    return replace(
        known, auto=score, needs_manual_grade=known.needs_manual_grade or known.auto != score
    )


def grade_of_answer(known: Mark, text: str | None, before: str | None) -> Mark:
    """The mark of a free-text cell. A TA gives it, but an empty answer earns 0.

    Args:
        known: the mark in the gradebook now.
        text: a digest of the answer; empty for none; None if the grader failed.
        before: the digest when the gradebook was last written; None if it never was.
    """
    if text is None:
        return replace(
            known, auto=None, needs_manual_grade=known.needs_manual_grade or known.manual is None
        )
    auto = None if text else 0.0
    if known.manual is None:
        return replace(known, auto=auto, needs_manual_grade=bool(text))
    changed = before is not None and text != before
    return replace(known, auto=auto, needs_manual_grade=known.needs_manual_grade or changed)
