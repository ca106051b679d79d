"""Which known mistakes the class made, and how many students made each.

A known mistake is recognised when a student's code computes the same as it in the checks; the judge
says so in the student's record. Here the records are only counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import mean

from gradekit.report.class_results import ClassResults
from gradekit.results.records import ExerciseResult


@dataclass(frozen=True)
class Misconception:
    """A known mistake of some students.

    Attributes:
        step: the exercise.
        title: the heading of the step in the notebook.
        mistakes: its name in the exercise file. Several if these compute the same in every check
            that failed: each of the students made one of them.
        advice: what the students read about it.
        students: their ids, in the order of the class.
        lost: the points that they lost in the step, on average.
    """

    step: str
    title: str
    mistakes: tuple[str, ...]
    advice: str
    students: tuple[str, ...]
    lost: float

    @property
    def name(self) -> str:
        """The mistake in words."""
        return " or ".join(name.replace("_", " ") for name in self.mistakes)


@dataclass(frozen=True)
class _Made:
    """One student made one known mistake."""

    step: str
    title: str
    mistakes: tuple[str, ...]
    advice: str
    student: str
    lost: float


def misconceptions_of(results: ClassResults) -> tuple[Misconception, ...]:
    """The known mistakes that students made, the most frequent first, then the most expensive."""
    groups: dict[tuple[str, tuple[str, ...]], list[_Made]] = {}
    for made in _all_made(results):
        groups.setdefault((made.step, made.mistakes), []).append(made)
    found = [
        Misconception(
            group[0].step,
            group[0].title,
            group[0].mistakes,
            group[0].advice,
            tuple(made.student for made in group),
            round(mean(made.lost for made in group), 2),
        )
        for group in groups.values()
    ]
    return tuple(sorted(found, key=lambda one: (-len(one.students), -one.lost)))


def _all_made(results: ClassResults) -> Iterator[_Made]:
    """In the order of the notebook, and then of the class."""
    for step in results.steps:
        for hand_in in results.graded:
            result = hand_in.result(step.exercise)
            # An untouched test rejects everything, as a known mistake does: that is none.
            if result is None or hand_in.left_out(step.exercise):
                continue
            lost = result.points - (result.earned or 0.0)
            title = step.heading or step.exercise
            for mistakes, advice in _with_advice(result):
                yield _Made(step.exercise, title, mistakes, advice, hand_in.student, lost)


def _with_advice(result: ExerciseResult) -> Iterator[tuple[tuple[str, ...], str]]:
    """The recognised mistakes, each with its advice.

    The judge's last sentence is about the first failed check. Before it there is one sentence for
    each mistake, or one for all of them, if the student made one of several.
    """
    names, sentences = result.mistakes, result.advice
    if not names:
        return
    if len(sentences) > len(names) > 1:
        for name, sentence in zip(names, sentences, strict=False):
            yield (name,), sentence
        return
    yield names, sentences[0] if sentences else ""
