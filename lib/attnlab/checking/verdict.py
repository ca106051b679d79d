"""Checks with their points, put together: what an answer earns and what to tell its author.

Both the grader and the notebook's ``check()`` call :func:`judge_exercise`; they differ only in
which checks they hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from attnlab.checking.advice import explain, is_blank
from attnlab.checking.judges import Close, Difference, Judge
from attnlab.checking.observation import Raised, clip
from attnlab.checking.redact import discreet

# Code may raise, return or name what it likes; a page shows this many characters of it.
MOST_ADVICE = 1000


@dataclass(frozen=True)
class KnownMistake:
    """A wrong version that students write: its name and the advice that helps."""

    name: str
    advice: str


@dataclass(frozen=True)
class Question:
    """A check, ready to be judged.

    Attributes:
        name: the check's name.
        title: the sentence that people read.
        points: what a pass is worth.
        hidden: whether students may see its inputs and numbers.
        judge: how an observation is compared.
        expected: what the reference's run saw.
        mistakes: what each known mistake's run saw, by the mistake's name.
    """

    name: str
    title: str
    points: float
    hidden: bool
    judge: Judge
    expected: Any
    mistakes: Mapping[str, Any]


@dataclass(frozen=True)
class Answer:
    """One check's outcome."""

    question: Question
    seen: Any
    difference: Difference | None
    earned: float

    @property
    def passed(self) -> bool:
        """Whether the check earned all its points."""
        return self.difference is None


@dataclass(frozen=True)
class Verdict:
    """One exercise's outcome.

    Attributes:
        answers: in the order of the checks.
        advice: what to tell the student, best first; empty where all passed.
        mistakes: names of the known mistakes whose advice was given.
    """

    answers: tuple[Answer, ...]
    advice: tuple[str, ...]
    mistakes: tuple[str, ...]

    @property
    def earned(self) -> float:
        """Points earned, rounded to a hundredth."""
        return round(sum(answer.earned for answer in self.answers), 2)

    @property
    def points(self) -> float:
        """Points to be had."""
        return sum(answer.question.points for answer in self.answers)

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return all(answer.passed for answer in self.answers)


def judge_exercise(
    questions: Sequence[Question],
    seen: Mapping[str, Any],
    mistakes: Sequence[KnownMistake],
    vet: Callable[[Difference], Difference] | None = None,
) -> Verdict:
    """Compare what was seen with what was expected, check by check.

    Args:
        questions: the exercise's checks.
        seen: the student's observation for each check's name.
        mistakes: the exercise's known mistakes, in their order.
        vet: takes out of an open check's difference what must not be quoted.
    """
    answers = tuple(_answer(question, seen[question.name]) for question in questions)
    failed = [answer for answer in answers if not answer.passed]
    if not failed:
        return Verdict(answers, (), ())
    recognised = recognise(answers, mistakes)
    specific = list(dict.fromkeys(mistake.advice for mistake in recognised))
    names = tuple(mistake.name for mistake in recognised)
    return Verdict(answers, (*specific, _ladder(failed[0], vet)), names)


def recognise(
    answers: Sequence[Answer], mistakes: Sequence[KnownMistake], most: int = 2
) -> list[KnownMistake]:
    """The known mistakes that see what the student's code sees, in every check if possible.

    A mistake is a candidate where it fails in the same way as the student in at least a quarter of
    the failed checks: in a single small case, two different mistakes may well agree. Those that
    agree in the most checks win; where several agree equally well, up to `most` with different
    advice are kept, and none if there are more (then nobody knows).
    """
    failed = [answer for answer in answers if _telling(answer)]
    others = [answer for answer in answers if not _telling(answer)]
    scores: dict[str, int] = {}
    for mistake in mistakes:
        failures = _agreements(mistake, failed)
        candidate = failures and 4 * failures >= len(failed)
        scores[mistake.name] = failures + _agreements(mistake, others) if candidate else 0
    best = max(scores.values(), default=0)
    if best == 0:
        return []
    winners = [mistake for mistake in mistakes if scores[mistake.name] == best]
    by_advice = {mistake.advice: mistake for mistake in reversed(winners)}
    return [m for m in winners if by_advice[m.advice] is m] if len(by_advice) <= most else []


def _answer(question: Question, seen: Any) -> Answer:
    difference = question.judge.compare(question.expected, seen)
    credit = 1.0 if difference is None else question.judge.credit(question.expected, seen)
    return Answer(question, seen, difference, question.points * credit)


def _agreements(mistake: KnownMistake, answers: Sequence[Answer]) -> int:
    """In how many of `answers` the mistake's run saw the same."""
    return sum(
        _same(answer.question.mistakes[mistake.name], answer.seen)
        for answer in answers
        if mistake.name in answer.question.mistakes
    )


def _same(mistaken: Any, seen: Any) -> bool:
    if isinstance(seen, Raised) and isinstance(mistaken, Raised):
        # Much that is wrong ends in a TypeError: only the same words say the same of a mistake.
        return (mistaken.type, mistaken.message) == (seen.type, seen.message)
    return Close(atol=1e-7, rtol=1e-7).compare(mistaken, seen) is None


def _telling(answer: Answer) -> bool:
    """Whether this answer fails in a way that says something: a blank body's does not."""
    difference = answer.difference
    if difference is None:
        return False
    return difference.kind not in ("missing", "silence") and not is_blank(difference)


def _ladder(answer: Answer, vet: Callable[[Difference], Difference] | None) -> str:
    """What was seen in a check that failed; the check is named where it matters which it was."""
    difference = answer.difference
    assert difference is not None
    if is_blank(difference):
        return explain(difference)
    if answer.question.hidden:
        vet = discreet
    shown = vet(difference) if vet else difference
    if is_blank(shown):  # it had words, which are not to be repeated
        shown = replace(shown, seen=replace(shown.seen, type="a NotImplementedError of its own"))
    sentence = clip(explain(shown), MOST_ADVICE)
    if difference.kind in ("missing", "forbidden"):
        return sentence
    return f"“{answer.question.title.rstrip('.')}”: {sentence}"
