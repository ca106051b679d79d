"""The free-text questions of a lab: what was written, and what the markers gave.

Tested in tests/gradekit/report/test_questions.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

from gradekit.marking.history import GivenMark, latest
from gradekit.report.class_results import ClassResults, StudentResults


@dataclass(frozen=True)
class Marker:
    """What one TA gave in a question.

    Attributes:
        name: empty for marks of which it is not known who gave them.
    """

    name: str
    marks: int
    mean: float


@dataclass(frozen=True)
class Question:
    """A free-text question, which TAs mark.

    Attributes:
        unwritten: students who wrote nothing; their mark is 0.
        waiting: answers without a mark.
        marks: the manual marks, in order.
        markers: who gave them; empty if nobody is known.
    """

    name: str
    title: str
    points: float
    unwritten: int
    waiting: int
    marks: tuple[float, ...]
    markers: tuple[Marker, ...] = ()

    @property
    def mean(self) -> float | None:
        """The mean of the marks; None if there is none."""
        return mean(self.marks) if self.marks else None


def questions_of(results: ClassResults) -> tuple[Question, ...]:
    """The free-text questions, in the order of the notebook."""
    given = latest(results.course, results.lab)
    return tuple(
        _question(
            results.everyone, cell.grade_id, cell.heading or "In your own words", cell.points, given
        )
        for cell in results.questions
    )


def _question(
    everyone: Sequence[StudentResults],
    name: str,
    title: str,
    points: float,
    given: Mapping[tuple[str, str], GivenMark],
) -> Question:
    graded = [h for h in everyone if h.record is not None and h.results]
    wrote = [h for h in graded if h.record and h.record.answers.get(name)]
    marks = {h.student: h.score.parts.get(name) for h in wrote}
    known = {student: mark for student, mark in marks.items() if mark is not None}
    unwritten, waiting = len(graded) - len(wrote), len(marks) - len(known)
    markers = _markers(name, known, given)
    return Question(name, title, points, unwritten, waiting, tuple(sorted(known.values())), markers)


def _markers(
    question: str,
    marks: Mapping[str, float],
    given: Mapping[tuple[str, str], GivenMark],
) -> tuple[Marker, ...]:
    """Marks by who gave them; one that was changed elsewhere since is nobody's."""
    by_name: dict[str, list[float]] = {}
    for student, mark in marks.items():
        last = given.get((student, question))
        by_name.setdefault(last.marker if last and last.points == mark else "", []).append(mark)
    if set(by_name) <= {""}:
        return ()
    named = sorted(by_name.items(), key=lambda item: (not item[0], item[0]))
    return tuple(Marker(name, len(found), round(mean(found), 2)) for name, found in named)
