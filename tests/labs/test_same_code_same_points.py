"""Hidden inputs differ from student to student; what the same code earns must not."""

from __future__ import annotations

import pytest

from attnlab.checking.verdict import judge_exercise
from gradekit.exercise.definition import Exercise, Version
from gradekit.exercise.variants import Variants
from tests.helpers.our_labs import LABS

LAB = "lab01"
NUMBER = 3
# Its right versions take seconds each; they make their own inputs.
SLOW = "test_softmax"


@pytest.fixture(scope="module")
def papers() -> list[Variants]:
    """The papers of several courses; each has its own secret, and so its own hidden inputs."""
    return [Variants(LABS[LAB], bytes([secret, 1])) for secret in range(5)]


def earned(variants: Variants, exercise: Exercise, version: Version) -> float:
    """What `version` earns on one paper of a course."""
    names = {**variants.lab.reference, **version.names}
    seen = {
        check.name: variants.run(exercise, check, NUMBER, names, exercise.forbids)
        for check in exercise.checks
    }
    return judge_exercise(variants.prepared_checks(exercise, NUMBER), seen, []).earned


def test_right_answers_keep_all_points_whatever_the_inputs(papers: list[Variants]) -> None:
    for exercise in papers[0].lab.exercises:
        for version in exercise.right_versions:
            asked = papers[:1] if exercise.name == SLOW else papers
            got = {earned(variants, exercise, version) for variants in asked}
            assert got == {exercise.points}, f"{exercise.name}: {version.name}"


@pytest.mark.parametrize("name", ["softmax", "cross_entropy", "equivariance_gap"])
def test_mistakes_lose_the_same_points_whatever_the_inputs(
    papers: list[Variants], name: str
) -> None:
    exercise = papers[0].lab[name]
    for mistake in exercise.mistakes:
        assert len({earned(variants, exercise, mistake) for variants in papers[:4]}) == 1, (
            mistake.name
        )
