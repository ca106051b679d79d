"""One cell's mark in the gradebook, and what a new result makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Mark:
    """One graded cell of one student, as nbgrader keeps it.

    Attributes:
        auto: the judge's points; None where there are none (free text, or we failed).
        manual: a person's points, which count instead.
        extra: a person's extra points.
        open: a person is to look at it.
    """

    auto: float | None = None
    manual: float | None = None
    extra: float | None = None
    open: bool = True

    @property
    def score(self) -> float:
        """The points that count."""
        given = self.auto if self.manual is None else self.manual
        return (given or 0.0) + (self.extra or 0.0)

    @property
    def is_known(self) -> bool:
        """Whether anybody gave points; if not, it is no 0."""
        return self.auto is not None or self.manual is not None


@dataclass(frozen=True)
class Marks:
    """One student's marks for one lab.

    Attributes:
        marks: by the graded cell's id.
        comments: what a person wrote, by the cell's id.
        penalty: points that come off for lateness.
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
        """The points that count in the end."""
        return max(0.0, self.points - self.penalty)

    @property
    def is_complete(self) -> bool:
        """Whether every cell has points and none waits for a person."""
        return all(mark.is_known and not mark.open for mark in self.marks.values())


def grade_of_test(known: Mark, score: float | None) -> Mark:
    """The mark of an autograded cell: nothing to do for a person, unless the ground has shifted.

    Args:
        known: what is there now.
        score: the judge's points; None where we failed: then there is no score, not an old one
            and no 0, and a person is asked to look.
    """
    if score is None:
        return replace(known, auto=None, open=True)
    if known.manual is None:
        return replace(known, auto=score, open=False)
    return replace(known, auto=score, open=known.open or known.auto != score)


def grade_of_answer(known: Mark, text: str | None, before: str | None) -> Mark:
    """The mark of a free-text cell: a person's to give, except that nothing written earns 0.

    Args:
        known: what is there now.
        text: a digest of the answer; empty for none; None where we failed.
        before: the digest when the gradebook was last written; None if it never was.
    """
    if text is None:
        return replace(known, auto=None, open=known.open or known.manual is None)
    auto = None if text else 0.0
    if known.manual is None:
        return replace(known, auto=auto, open=bool(text))
    changed = before is not None and text != before
    return replace(known, auto=auto, open=known.open or changed)
