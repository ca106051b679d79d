"""One failed check for staff: its inputs, beside what was expected and what came out.

Tested in tests/gradekit/grading/test_replay.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from attnlab.checking.advice import explain
from attnlab.checking.draw import seed_everything
from attnlab.checking.judges import Difference, Kills
from attnlab.checking.lab import Lab, asked_names, observe
from attnlab.checking.verdict import CheckOutcome
from gradekit.exercise.definition import Check, Exercise
from gradekit.exercise.variants import Variants
from gradekit.grading.grader import LabGrader
from gradekit.grading.recorded_calls import Call, Recorder
from gradekit.grading.task import FailedCheck, ShownCall
from gradekit.grading.value_text import value_text

MOST_SHOWN = 2
DIGITS = (4, 8, 16)


def failed_check(
    grader: LabGrader, number: int, exercise: Exercise, outcome: CheckOutcome
) -> FailedCheck:
    """What staff read about a failed check.

    Args:
        number: the variant that the hand-in was asked.
    """
    difference = outcome.difference
    assert difference is not None
    check = next(check for check in exercise.checks if check.name == outcome.check.name)
    calls, more = _calls(grader.variants, number, exercise, check, outcome)
    expected, seen = _both(outcome, difference)
    return FailedCheck(
        name=check.name,
        title=check.title,
        hidden=check.hidden,
        file=str(exercise.path.relative_to(grader.spec.course.root)),
        case=next((call.case for call in calls), ""),
        calls=tuple(ShownCall(call.function, call.arguments) for call in calls),
        more_calls=more,
        place=", ".join(_word(part) for part in difference.path),
        expected=expected,
        seen=seen,
        difference=explain(difference),
    )


def _calls(
    variants: Variants, number: int, exercise: Exercise, check: Check, outcome: CheckOutcome
) -> tuple[Sequence[Call], int]:
    """The calls that led to the first difference, as far as that is known."""
    if check.versions_of:  # the student's test is asked about versions, and draws its own inputs
        return (), 0
    recorder = Recorder()
    asked = asked_names(check.source)
    right = variants.lab.reference
    names = {**right, **recorder.watched({n: right[n] for n in asked if n in right})}
    seed = next(p.seed for p in variants.probes(exercise, number) if p.check == check.name)
    seed_everything(seed)  # as on the untrusted side
    observe(check.probe, Lab(names), recorder.draw(seed))
    difference = outcome.difference
    assert difference is not None
    calls = [call for call in recorder.calls if call.case in difference.path] or recorder.calls
    returned = [call for call in calls if _is_same(call.result, difference.expected)]
    chosen = returned[:1] or calls[:MOST_SHOWN]
    return chosen, len(recorder.calls) + recorder.left_out - len(chosen)


def _is_same(result: Any, expected: Any) -> bool:
    """Whether a call returned the value at which the answers differ, perhaps with others."""
    match result, expected:
        case tuple() | list(), Tensor():
            return any(_is_same(one, expected) for one in result)
        case Tensor(), Tensor():
            return result.dtype == expected.dtype and torch.equal(result.detach(), expected)
    return False


def _both(outcome: CheckOutcome, difference: Difference) -> tuple[str, str]:
    """The two values as text, with as many digits as are needed to see that they differ."""
    judge = outcome.check.judge
    if isinstance(judge, Kills) and difference.kind in ("rejects right", "lets through"):
        return _verdicts(judge, outcome.seen)
    for digits in DIGITS:
        expected = value_text(difference.expected, digits)
        seen = value_text(difference.seen, digits)
        if expected != seen:
            break
    return expected, seen


def _verdicts(judge: Kills, seen: Sequence[bool | str]) -> tuple[str, str]:
    """The versions of which a student's test said the wrong thing."""
    wrong = [
        (name, right)
        for (name, right), accepted in zip(judge.versions, seen, strict=True)
        if bool(accepted) != right
    ]
    said = {True: "accepted", False: "rejected"}
    return (
        "\n".join(f"{name}: {said[right]}" for name, right in wrong),
        "\n".join(f"{name}: {said[not right]}" for name, right in wrong),
    )


def _word(part: str | int) -> str:
    return part if isinstance(part, str) else f"[{part}]"
