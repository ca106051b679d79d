"""A text that arrives with one question answers another one, under whatever name.

Checks carry small functions of their own, references come for later steps to build on, and a
student's test is tried on versions, some of which are right. A process that keeps what it was sent
can hand any of them in. `test_references_come_late.py` looks at names; here each function and class
is tried as each step's answer.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any

import pytest

# An optimiser imports it, which takes a second: a limit that ended within that import would leave
# half a module behind, for all later tests of this process.
import torch._dynamo  # noqa: F401 - to have it

from attnlab.checking.lab import asked_names
from attnlab.checking.verdict import judge_exercise
from gradekit.exercise.definition import Check, Exercise
from gradekit.exercise.trained import ScoreBands
from gradekit.exercise.variants import Variants
from gradekit.sandbox.session import in_safe_order
from gradekit.untrusted.messages import Probe
from gradekit.verify.time_limit import OutOfTimeError, time_limit
from tests.attacks.test_references_come_late import OPEN_TO_ALL
from tests.helpers.our_labs import LABS, OUR_LABS

# The share of a step's points that anything with the right signature and shape may earn: measured
# on all labs, nothing that is sent earns more than 1.5 of 8 points (softmax_backward of lab 1).
A_STUB = 0.2
# One call of one check: those that train or hang are no answers that a student could leave unseen.
SECONDS = 1.0
# What a version of `softmax` was once: a mistake of that step, the answer of the next one.
RIGHT_UNDER_ANOTHER_NAME = """
def version(x, dim=-1):
    shifted = x - x.amax(dim, keepdim=True)
    return shifted - shifted.exp().sum(dim, keepdim=True).log()
"""


@dataclass
class Sent:
    """A function or class in a text that was sent.

    Attributes:
        value: the function or class itself.
        place: of the first group of probes with such a text.
    """

    value: Callable[..., Any]
    place: int


def definitions(probe: Probe) -> Iterator[tuple[str, str, str]]:
    """The name and the text of all that a probe defines, and the whole text that it stands in."""
    for text in (probe.source, probe.uses, *probe.versions):
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name != probe.check:
                yield node.name, ast.unparse(node), text


def everything_sent(variants: Variants) -> tuple[dict[str, Sent], dict[str, int]]:
    """All that is sent for a lab by its text, and the place of each exercise's last question."""
    groups = in_safe_order([variants.probes(e, 0) for e in variants.lab.exercises])
    sent: dict[str, Sent] = {}
    for place, group in enumerate(groups):
        for name, text, whole in chain.from_iterable(map(definitions, group)):
            if text not in sent:
                names: dict[str, Any] = {"__name__": "__main__"}
                exec(compile(whole, "<sent>", "exec"), names)
                sent[text] = Sent(names[name], place)
    return sent, {group[0].exercise: place for place, group in enumerate(groups)}


def takes(value: Callable[..., Any], reference: Callable[..., Any]) -> bool:
    """Whether it can be called with what the reference must be called with."""
    try:
        needed = [
            parameter
            for parameter in inspect.signature(reference).parameters.values()
            if parameter.default is parameter.empty
            and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        ]
        inspect.signature(value).bind(*needed)
    except (TypeError, ValueError):
        return False
    return True


def askable(exercise: Exercise, name: str) -> list[Check]:
    """The checks with points that ask for `name` and can be asked of a blank notebook."""
    return [
        check
        for check in exercise.checks
        if check.points > 0
        and not check.chained
        and not check.versions_of
        and not isinstance(check.judge, ScoreBands)
        and name in asked_names(inspect.getsource(check.probe))
    ]


def earned(variants: Variants, exercise: Exercise, name: str, value: Callable[..., Any]) -> float:
    """The points of a hand-in whose only answer is this value, under this name."""
    own = set(exercise.names)
    names = {k: v for k, v in variants.lab.reference.items() if k not in own} | {name: value}
    seen = {}
    for check in askable(exercise, name):
        with suppress(OutOfTimeError), time_limit(SECONDS):
            seen[check.name] = variants.run(exercise, check, 0, names, exercise.forbids)
    checks = [check for check in variants.prepared_checks(exercise, 0) if check.name in seen]
    return judge_exercise(checks, seen, []).earned


@pytest.mark.filterwarnings("ignore")
def test_a_right_answer_under_another_name_would_be_seen() -> None:
    variants = Variants(LABS["lab01"])
    exercise = variants.lab["log_softmax"]
    names: dict[str, Any] = {}
    exec(RIGHT_UNDER_ANOTHER_NAME, names)
    points = earned(variants, exercise, "log_softmax", names["version"])
    assert points > A_STUB * exercise.points


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("lab", OUR_LABS)
def test_no_text_is_worth_more_than_a_stub_as_the_answer_of_another_step(lab: str) -> None:
    variants = Variants(LABS[lab])
    sent, last = everything_sent(variants)
    gained = []
    for exercise in variants.lab.exercises:
        early = [(t, one.value) for t, one in sent.items() if one.place <= last[exercise.name]]
        for name in set(exercise.names) - OPEN_TO_ALL.get(lab, set()):
            reference = variants.lab.reference.get(name)
            for text, value in early if callable(reference) else ():
                if takes(value, reference):
                    points = earned(variants, exercise, name, value)
                    if points > A_STUB * exercise.points:
                        gained.append(f"{points:g} of {exercise.points} for {name}:\n{text}")
    assert not gained, "\n\n".join(gained)
