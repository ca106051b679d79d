"""The proof that the checks work: every mistake caught, no right answer rejected.

For each exercise: the reference earns all points and the blank notebook none; every written
mistake loses points and gets its own advice; every check fails for at least one of them; every
other right answer keeps all points; every mutant of the reference is caught or marked as
equivalent; every sentence of the task is held by a check. In an ungraded exercise, whose checks
have no points, each check counts as one point here.
:mod:`.proof` holds the results.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from attnlab.checking.advice import explain
from attnlab.checking.observation import Raised, pack
from attnlab.checking.verdict import Verdict, judge_exercise
from gradekit.build.unfinished import to_fill_in
from gradekit.exercise.authoring_errors import file_name, line_of
from gradekit.exercise.definition import Exercise, Version
from gradekit.exercise.promises import table, task_sentences
from gradekit.exercise.variants import Variants
from gradekit.exercise.write_a_test import WriteATest
from gradekit.verify.mutation import mutants
from gradekit.verify.proof import ExerciseProof, MistakeProof, MutantProof, PromisesProof
from gradekit.verify.time_limit import OutOfTimeError, time_limit

# Hidden inputs differ between variants, so each version is asked more than one.
NUMBERS = (0, 1, 2)
SECONDS_PER_VERSION = 20


def verify_exercise(
    variants: Variants, exercise: Exercise, with_mutants: bool = True
) -> ExerciseProof:
    """Try the reference, the blank, every mistake, right answer and mutant of `exercise`."""
    start = time.perf_counter()
    tried = _Tries(variants, exercise)
    reference = _worst(tried.verdicts({}))
    mistakes = tuple(_mistake(tried, mistake) for mistake in exercise.mistakes)
    failed = {check for mistake in mistakes for check in mistake.caught_by}
    return ExerciseProof(
        name=exercise.name,
        points=exercise.points or len(exercise.checks),
        reference=reference.earned,
        blank=max(verdict.earned for verdict in tried.verdicts(_blank(exercise))),
        mistakes=mistakes,
        also_right=tuple(_also_right(tried, version) for version in exercise.right_versions),
        promises=_promises(exercise),
        raising=tuple(_raising(tried)),
        never_failed=tuple(
            f"{check.name} ({check.place})" for check in exercise.checks if check.name not in failed
        ),
        mutants=_mutants(tried) if with_mutants else MutantProof(0, 0, 0, (), ()),
        seconds=round(time.perf_counter() - start, 2),
        place=file_name(exercise.path),
        left=tuple(to_fill_in(exercise)),
        reference_lost=_first_failure(reference),
    )


class _Tries:
    """Judges versions of one exercise as if students had submitted them."""

    def __init__(self, variants: Variants, exercise: Exercise) -> None:
        self.variants, self.exercise = variants, exercise
        self._profiles: dict[str, list[bytes]] = {}

    def verdict(self, names: Mapping[str, Any], number: int) -> Verdict:
        exercise, variants = self.exercise, self.variants
        everything = variants.names_with(exercise, names)
        present = {k: v for k, v in everything.items() if v is not _ABSENT}
        seen = {
            check.name: variants.run(exercise, check, number, present, exercise.forbids)
            for check in exercise.checks
        }
        known = [mistake.known for mistake in exercise.mistakes]
        checks = variants.prepared_checks(exercise, number)
        if not exercise.points:
            checks = [replace(check, points=1.0) for check in checks]
        return judge_exercise(checks, seen, known)

    def profile(self, version: Version) -> list[bytes]:
        """The observations of every check in every variant, to compare with another version's."""
        if version.name not in self._profiles:
            self._profiles[version.name] = _profile(self, version)
        return self._profiles[version.name]

    def verdicts(self, names: Mapping[str, Any]) -> list[Verdict]:
        return [self.verdict(names, number) for number in NUMBERS]

    def survives(self, names: Mapping[str, Any]) -> bool:
        """Whether no check fails with any variant; stops at the first that does."""
        exercise, variants = self.exercise, self.variants
        everything = variants.names_with(exercise, names)
        for number in NUMBERS:
            for prepared, check in zip(
                variants.prepared_checks(exercise, number), exercise.checks, strict=True
            ):
                seen = variants.run(exercise, check, number, everything, exercise.forbids)
                if prepared.judge.compare(prepared.expected, seen) is not None:
                    return False
        return True


_ABSENT = object()


def _blank(exercise: Exercise) -> dict[str, Any]:
    def blank(*args: Any, **kwargs: Any) -> None:
        raise NotImplementedError

    # The notebook gives a placeholder for functions and for a student's test, and for nothing else.
    is_function = exercise.references or isinstance(exercise, WriteATest)
    filler = blank if is_function else _ABSENT
    return {
        **dict.fromkeys(exercise.names, filler),
        **dict.fromkeys(exercise.saves, _ABSENT),
    }


def _mistake(tried: _Tries, mistake: Version) -> MistakeProof:
    verdicts = tried.verdicts(mistake.names)
    lost = [round(verdict.points - verdict.earned, 2) for verdict in verdicts]
    failed = {a.check.name: None for v in verdicts for a in v.outcomes if not a.passed}
    return MistakeProof(
        name=mistake.name,
        lost=min(lost),
        most_lost=max(lost),
        caught_by=tuple(failed),
        advised=all(
            any(mistake.advice in advice for advice in verdict.advice) for verdict in verdicts
        ),
        same_as=_indistinguishable(tried, mistake),
        place=mistake.place,
    )


def _indistinguishable(tried: _Tries, mistake: Version) -> str | None:
    """A mistake with other advice whose observations in every check equal this one's."""
    profile = tried.profile(mistake)
    for other in tried.exercise.mistakes:
        if other.advice != mistake.advice and tried.profile(other) == profile:
            return other.name
    return None


def _profile(tried: _Tries, version: Version) -> list[bytes]:
    observations = (
        tried.variants.observe(tried.exercise, check, number, version)
        for number in NUMBERS
        for check in tried.exercise.checks
    )
    return [pack(Raised(seen.type) if isinstance(seen, Raised) else seen) for seen in observations]


def _also_right(tried: _Tries, version: Version) -> tuple[str, float, str]:
    worst = _worst(tried.verdicts(version.names))
    return version.name, worst.earned, _first_failure(worst)


def _worst(verdicts: list[Verdict]) -> Verdict:
    return min(verdicts, key=lambda verdict: verdict.earned)


def _first_failure(verdict: Verdict) -> str:
    """The first check that failed, and what was seen; for the author, so nothing is left out."""
    for outcome in verdict.outcomes:
        if outcome.difference is not None:
            return f"{outcome.check.name}: {explain(outcome.difference)}"
    return ""


def _promises(exercise: Exercise) -> PromisesProof:
    sentences = task_sentences(exercise.references)
    if exercise.promised is None:
        return PromisesProof(declared=False, sentences=tuple(sentences))
    found, wrong = table(sentences, exercise.promised, [check.name for check in exercise.checks])
    return PromisesProof(declared=True, sentences=tuple(found), wrong=tuple(wrong))


def _raising(tried: _Tries) -> Iterator[str]:
    """The checks in which the reference raises an error that nobody expects, with its message.

    A check says that it expects an error by `draw.raises`, which keeps no message.
    """
    for check in tried.exercise.checks:
        if check.versions_of is None:
            seen = tried.variants.observe(tried.exercise, check, NUMBERS[0], None)
            yield from (
                f"{check.name} ({check.place}), {raised.type}: {raised.message}; correct "
                f"{_reference_of(tried.exercise)} or the check"
                for raised in _events(seen)
                if raised.message
            )


def _reference_of(exercise: Exercise) -> str:
    """Where the right answer is."""
    if not exercise.references:
        return "the cell of the lab's source"
    return " or ".join(f"{r.__name__} in {line_of(r)}" for r in exercise.references)


def _events(seen: Any) -> Iterator[Raised]:
    match seen:
        case Raised():
            yield seen
        case list():
            for item in seen:
                yield from _events(item)
        case dict():
            for item in seen.values():
                yield from _events(item)


def _mutants(tried: _Tries) -> MutantProof:
    made = caught = 0
    survived: list[str] = []
    for reference in tried.exercise.references:
        for mutant in mutants(reference):
            made += 1
            if _alive(tried, reference.__name__, mutant.make):
                survived.append(mutant.label)
            else:
                caught += 1
    marked = tried.exercise.equivalent
    return MutantProof(
        made=made,
        caught=caught,
        equivalent=sum(label in marked for label in survived),
        survived=tuple(label for label in survived if label not in marked),
        unused_marks=tuple(label for label in marked if label not in survived),
    )


def _alive(tried: _Tries, name: str, make: Callable[[], Any]) -> bool:
    try:
        with time_limit(SECONDS_PER_VERSION):
            return tried.survives({name: make()})
    except (OutOfTimeError, Exception):  # a mutant that cannot even be made counts as caught
        return False
