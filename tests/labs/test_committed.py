"""The committed notebooks and checks are what the sources make now, for every lab of the course."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from attnlab.checking import visible
from attnlab.checking.verdict import PreparedCheck
from attnlab.checking.visible import VisibleExercise
from gradekit.build import build
from gradekit.build.build import find_drift
from gradekit.build.drift import ANY_PROCESSOR, same_values
from gradekit.exercise.definition import Check, Exercise, Version
from gradekit.exercise.loader import LabExercises
from gradekit.exercise.variants import Variants
from tests.helpers.our_labs import COURSE, LABS

# The known mistakes of most labs are observed again, on one core.
pytestmark = [pytest.mark.timeout(1200), pytest.mark.starts_first]

# Their mistakes take longest: all of them in all checks in the long run, each in one in every run.
LONG = ("lab02", "lab03", "lab04", "lab05", "lab07", "lab08", "lab09", "lab10")


@pytest.mark.parametrize(
    "lab", [pytest.param(lab, marks=pytest.mark.slow if lab in LONG else ()) for lab in COURSE.labs]
)
def test_the_committed_files_are_what_the_source_makes(lab: str) -> None:
    assert find_drift(LABS, [lab]) == [], f"run `lab build {lab}`"


def committed(lab: str) -> dict[str, VisibleExercise]:
    """The exercises in the committed file of visible checks."""
    content = visible.read(COURSE.released(lab).parent / visible.FILE_NAME)
    return {exercise.name: exercise for exercise in content.exercises}


class MistakesAsCommitted(Variants):
    """Takes what known mistakes answer from the committed file; references are observed."""

    def __init__(self, lab: LabExercises) -> None:
        super().__init__(lab)
        self._there = {
            (exercise.name, check.prepared.name): check.prepared
            for exercise in committed(lab.lab).values()
            for check in exercise.checks
        }

    def observe(
        self, exercise: Exercise, check: Check, number: int, version: Version | None
    ) -> Any:
        there = self._there.get((exercise.name, check.name))
        if version is None or there is None or version.name not in there.mistakes:
            return super().observe(exercise, check, number, version)
        if there.mistakes[version.name] is there.expected:  # another processor rounds otherwise
            return super().observe(exercise, check, number, None)
        return there.mistakes[version.name]


@pytest.mark.parametrize("lab", LONG)
def test_the_files_of_a_long_lab_but_for_what_mistakes_answer(
    lab: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "Variants", MistakesAsCommitted)
    assert find_drift(LABS, [lab]) == [], f"run `lab build {lab}`"


def passes(prepared: PreparedCheck, seen: Any) -> bool:
    return prepared.judge.compare(prepared.expected, seen) is None


def failed(there: VisibleExercise, mistake: str) -> list[str]:
    """The visible checks that a known mistake fails, according to the committed file."""
    asked = [check.prepared for check in there.checks]
    return [prepared.name for prepared in asked if not passes(prepared, prepared.mistakes[mistake])]


def changed_mistakes(lab: str, name: str) -> set[str]:
    """The known mistakes of an exercise that do not answer one check as in the committed file.

    A mistake is asked the first check that it fails, because another text would hardly fail that in
    the same way; and one that fails no visible check is asked the first of all.
    """
    there = committed(lab)[name]
    made = Variants(LABS[lab]).visible(LABS[lab][name])
    asked = {check.prepared.name: check.prepared for check in there.checks}
    seen = {check.prepared.name: check.prepared.mistakes for check in made.checks}
    changed = set()
    for mistake in made.mistakes if asked else ():
        check = next(iter((*failed(there, mistake.name), *asked)))
        now, then = seen[check][mistake.name], asked[check].mistakes[mistake.name]
        # Two processors may differ by more than some mistakes do from the reference.
        same = same_values(now, then, ANY_PROCESSOR)
        if not same or passes(asked[check], now) != passes(asked[check], then):
            changed.add(mistake.name)
    return changed


@pytest.mark.parametrize("lab", LONG)
def test_each_mistake_of_a_long_lab_answers_one_check_as_in_the_committed_file(lab: str) -> None:
    for exercise in LABS[lab].exercises:
        assert not changed_mistakes(lab, exercise.name), f"run `lab build {lab}`"


def test_a_mistake_with_another_text_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    lab, name = "lab01", "softmax"
    (right,) = LABS[lab][name].references
    mended = [replace(mistake, function=right) for mistake in LABS[lab][name].mistakes]
    monkeypatch.setattr(LABS[lab][name], "mistakes", mended)
    there = committed(lab)[name]
    failing = {mistake.name for mistake in there.mistakes if failed(there, mistake.name)}
    assert len(failing) > 20
    assert changed_mistakes(lab, name) == failing
