"""Compares the untrusted process's answers with the reference's: one verdict per exercise.

Tested in tests/gradekit/grading/test_judge.py and, end to end, in test_demo_class.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from attnlab.checking.changed_lines import FewChanges
from attnlab.checking.lab import asked_names
from attnlab.checking.observation import Missing, NoAnswer, ObservationError, Raised, unpack
from attnlab.checking.verdict import Verdict, judge_exercise
from gradekit.exercise.definition import Exercise
from gradekit.exercise.variants import Variants
from gradekit.grading.counted_lines import with_changes_of
from gradekit.grading.quoting import QuotationFilter, without_forged_events
from gradekit.sandbox.result import Stopped

Observations = Mapping[tuple[str, str], bytes | Stopped]


def judge(
    variants: Variants,
    number: int,
    exercises: Sequence[Exercise],
    observations: Observations,
    sources: Sequence[str] = (),
    stopped: Mapping[str, str] | None = None,
) -> dict[str, Verdict]:
    """One verdict for each exercise.

    Args:
        variants: the lab's checks, in all their variants.
        number: the variant that the submission was asked.
        exercises: the ones that were asked about.
        observations: the untrusted side's answers by (exercise, check); a missing one earns
            nothing.
        sources: the notebook's cells; advice quotes a line, or words, only if they appear there.
        stopped: by name, the exception in the cell that should have defined it.
    """
    quotable, why = QuotationFilter(sources), stopped or {}
    return {
        exercise.name: _judge_exercise(
            variants, number, exercise, observations, quotable, why, sources
        )
        for exercise in exercises
    }


def _judge_exercise(
    variants: Variants,
    number: int,
    exercise: Exercise,
    observations: Observations,
    quotable: QuotationFilter,
    stopped: Mapping[str, str],
    sources: Sequence[str],
) -> Verdict:
    names = _asked_names(variants, number, exercise)
    seen = {
        check.name: without_forged_events(
            _open(observations.get((exercise.name, check.name)), quotable.lines, stopped),
            names,
            exercise.forbids,
        )
        for check in exercise.checks
    }
    for check in exercise.checks:
        if isinstance(check.judge, FewChanges):
            seen[check.name] = with_changes_of(seen[check.name], check.judge, sources)
    known = [mistake.known for mistake in exercise.mistakes]
    return judge_exercise(variants.prepared_checks(exercise, number), seen, known, quotable.vet)


def _asked_names(variants: Variants, number: int, exercise: Exercise) -> frozenset[str]:
    """The names and files that the probes of an exercise ask for."""
    texts = (probe.source for probe in variants.probes(exercise, number))
    asked = (name for text in texts for name in asked_names(text))
    return frozenset((*exercise.names, *exercise.saves, *asked))


def _open(answer: bytes | Stopped | None, lines: frozenset[str], stopped: Mapping[str, str]) -> Any:
    if answer is None:
        return NoAnswer("it was not asked")
    if isinstance(answer, Stopped):
        return NoAnswer(answer.reason)
    try:
        seen = unpack(answer)
    except ObservationError:
        return NoAnswer("it cannot be read")
    if isinstance(seen, Raised) and seen.source_line not in lines:
        return replace(seen, source_line="")
    if isinstance(seen, Missing):
        return replace(seen, stopped=stopped.get(seen.name, ""))
    return seen
