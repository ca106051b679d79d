"""The verdict on one exercise: the points that the answers earn, and advice for the student.

Both the grader and the notebook's ``check()`` call :func:`judge_exercise`. They differ only in
their checks: the notebook has the visible ones alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from attnlab.checking.advice import (
    explain,
    is_blank,
    names_a_dtype,
    only_last_digits_differ,
)
from attnlab.checking.advice_on_tests import LOST_FAILURES
from attnlab.checking.judges import Difference, Judge
from attnlab.checking.observation import clip
from attnlab.checking.recognition import (
    recognise,
    recognise_apart,
    recognise_both,
    recognise_in_part,
    recognise_test,
    unexplained,
)
from attnlab.checking.redact import redacted

# A student's code may produce messages of any length; a page shows this many characters.
MOST_ADVICE = 1000
_IN_PART = "(This explains a part of what was seen; something else may be wrong, too.)"


@dataclass(frozen=True)
class KnownMistake:
    """A wrong version that students write.

    Attributes:
        name: its name.
        advice: advice that helps.
        of: the function that is wrong, if the exercise has several; else empty.
    """

    name: str
    advice: str
    of: str = ""


@dataclass(frozen=True)
class PreparedCheck:
    """A check, ready to be judged.

    Attributes:
        name: the check's name.
        title: one sentence for the report.
        points: points for a pass.
        hidden: whether its inputs and numbers must not be revealed to students.
        judge: compares two observations.
        expected: the observation of the reference.
        mistakes: the observation of each known mistake, by the mistake's name.
        own_steps: if it runs on the student's own earlier steps: their names.
        about: the only function that it asks, if the exercise has several; else empty.
        question: what to ask after a wrong value that nothing else explains; often empty.
        broken_promises: for a student's test, by the name of a wrong version: the title of a check
            of the tested step that it fails; empty if it fails many.
    """

    name: str
    title: str
    points: float
    hidden: bool
    judge: Judge
    expected: Any
    mistakes: Mapping[str, Any]
    own_steps: tuple[str, ...] = ()
    about: str = ""
    question: str = ""
    broken_promises: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class CheckOutcome:
    """The outcome of one check.

    Attributes:
        check: the check.
        seen: the observation of the student's code.
        difference: the first difference from what was expected; None for a pass.
        earned: points earned.
    """

    check: PreparedCheck
    seen: Any
    difference: Difference | None
    earned: float

    @property
    def passed(self) -> bool:
        """Whether the check earned all its points."""
        return self.difference is None


@dataclass(frozen=True)
class Verdict:
    """The outcome of one exercise.

    Attributes:
        outcomes: in the order of the checks.
        advice: sentences for the student, the best first; empty if all checks passed.
        mistakes: names of the known mistakes whose advice was given.
        quoted: the failed check that the last sentence is about; None if all checks passed.
    """

    outcomes: tuple[CheckOutcome, ...]
    advice: tuple[str, ...]
    mistakes: tuple[str, ...]
    quoted: CheckOutcome | None = None

    @property
    def earned(self) -> float:
        """Points earned, rounded to a hundredth."""
        return round(sum(outcome.earned for outcome in self.outcomes), 2)

    @property
    def points(self) -> float:
        """Points available."""
        return round(sum(outcome.check.points for outcome in self.outcomes), 2)

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return all(outcome.passed for outcome in self.outcomes)


# Before mistakes between which the checks cannot tell.
ONE_OF = "At least one of these: "
# The kinds of difference after which a check's own question is asked.
_WRONG_VALUE = ("values", "number", "nan", "length")
# A test that returns or prints its verdict shows it: no guess between mistakes comes before that.
_SURE = ("test returns", "test prints")


def judge_exercise(
    checks: Sequence[PreparedCheck],
    seen: Mapping[str, Any],
    mistakes: Sequence[KnownMistake],
    redact: Callable[[Difference], Difference] | None = None,
) -> Verdict:
    """Compare the student's observations with the expected ones, check by check.

    Args:
        checks: the exercise's checks.
        seen: the student's observation for each check's name.
        mistakes: the exercise's known mistakes, in their order.
        redact: removes from a visible check's difference whatever must not be quoted. A hidden
            check's difference is always redacted.
    """
    outcomes = tuple(_outcome(check, seen[check.name]) for check in checks)
    failed = [outcome for outcome in outcomes if not outcome.passed]
    if not failed:
        return Verdict(outcomes, (), ())
    if all(outcome.check.own_steps for outcome in failed):
        return Verdict(outcomes, (_look_earlier(failed[0]),), (), failed[0])
    sure = [one for one in failed if one.difference and one.difference.kind in _SURE]
    several = recognise_both(outcomes, mistakes)
    recognised = several or recognise(outcomes, mistakes)
    # One mistake that explains everything needs no others, and looking for them takes long.
    if not several and all(unexplained(failed, [mistake]) for mistake in recognised):
        several = recognise_apart(outcomes, mistakes)
        recognised = several or recognised
    if sure and len(recognised) != 1:
        return Verdict(outcomes, (_general_advice(sure[0], redact),), (), sure[0])
    specific = (
        tuple(dict.fromkeys(m.advice for m in several)) if several else _specific_advice(recognised)
    )
    if not recognised and (
        found := recognise_test(outcomes, mistakes) or recognise_in_part(outcomes, mistakes)
    ):
        recognised, specific = [found], (f"{found.advice} {_IN_PART}",)
    names = tuple(mistake.name for mistake in recognised)
    rest = unexplained(failed, several) if several else failed
    quoted = _most_telling(rest or failed)
    guesses = bool(unexplained([quoted], recognised))
    general = _general_advice(quoted, redact, guesses)
    return Verdict(outcomes, (*specific, general), names, quoted)


def _broken_promise(check: PreparedCheck, difference: Difference) -> str:
    """A sentence on a promise that a wrong version breaks, of those that a test accepts."""
    promises = (check.broken_promises.get(name, "") for name in difference.detail.split())
    promise = next(filter(None, promises), "").rstrip(".")
    return f"One of them breaks this promise: “{promise}”." if promise else ""


def _most_telling(failed: Sequence[CheckOutcome]) -> CheckOutcome:
    """The first failed check, unless another one says more about the same failure.

    Where the first sees rounding alone, the check of the dtype says why. Where a test rejects right
    versions, the check that knows the line and the error of one rejection does; where it accepts
    wrong ones, the check that knows how it loses a failure.
    """
    first = failed[0].difference
    for other in failed[1:]:
        found = other.difference
        if first is None or found is None:
            continue
        if only_last_digits_differ(first) and names_a_dtype(found):
            return other
        if first.kind == "rejects right" and found.is_rejection:
            return other
        if first.kind == "lets through" and found.kind == "values" and found.seen in LOST_FAILURES:
            return other
    return failed[0]


def _specific_advice(recognised: Sequence[KnownMistake]) -> tuple[str, ...]:
    """The advice on the recognised mistakes; if there are several, the student made one of them."""
    advice = list(dict.fromkeys(mistake.advice for mistake in recognised))
    if len(advice) < 2:
        return tuple(advice)
    listed = " ".join(f"({number}) {sentence}" for number, sentence in enumerate(advice, 1))
    return (ONE_OF + listed,)


def _look_earlier(outcome: CheckOutcome) -> str:
    """Advice if a step fails only together with the student's own earlier steps.

    A check may say by the name of an entry which of these steps differs.
    """
    check, path = outcome.check, outcome.difference.path if outcome.difference else ()
    quoted = [f"`{name}`" for name in check.own_steps]
    named = [name for name in quoted if any(name in part for part in path if isinstance(part, str))]
    names = ", ".join(named or quoted)
    return (
        f"“{check.title.rstrip('.')}”: this check alone runs on your own {names}; with correct "
        "versions of these, your step passes. So look for the cause there."
    )


def _outcome(check: PreparedCheck, seen: Any) -> CheckOutcome:
    difference = check.judge.compare(check.expected, seen)
    credit = 1.0 if difference is None else check.judge.credit(check.expected, seen)
    return CheckOutcome(check, seen, difference, check.points * credit)


def _general_advice(
    outcome: CheckOutcome, redact: Callable[[Difference], Difference] | None, guesses: bool = True
) -> str:
    """Advice on a failed check, with the check's title unless all checks fail in this way.

    `guesses`: whether no advice on a known mistake explains the failure (see :func:`explain`).
    """
    difference = outcome.difference
    assert difference is not None
    if is_blank(difference):
        return explain(difference)
    if outcome.check.hidden:
        redact = redacted
    shown = redact(difference) if redact else difference
    if is_blank(shown):  # its message was removed, so it only looks like the placeholder
        shown = replace(shown, seen=replace(shown.seen, type="a NotImplementedError of its own"))
    sentence = clip(explain(shown, guesses), MOST_ADVICE)
    if difference.kind in ("missing", "forbidden"):
        return sentence
    if guesses and difference.kind in _WRONG_VALUE and not sentence.endswith("?"):
        sentence = f"{sentence} {outcome.check.question}".rstrip()
    if difference.kind == "lets through":
        sentence = f"{sentence} {_broken_promise(outcome.check, difference)}".rstrip()
    title, about = outcome.check.title.rstrip("."), outcome.check.about
    if about and about not in title and f"`{about}`" not in sentence:
        sentence = f"`{about}`: {sentence}"
    return f"“{title}”: {sentence}"
