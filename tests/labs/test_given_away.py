"""What a notebook earns that only repeats the bundle's file of checks, or holds a table of it."""

from __future__ import annotations

import pytest

from gradekit.exercise.definition import Check, Exercise
from gradekit.exercise.variants import BUNDLE, Variants
from tests.helpers.our_labs import LABS, OUR_LABS

MOST = 0.25  # of a lab's points; shapes, the lectures' own examples and openly wrong versions


@pytest.mark.parametrize("lab", [lab for lab in OUR_LABS if lab != "lab00"])  # it hides nothing
def test_most_points_are_for_what_no_bundle_holds(lab: str) -> None:
    exercises = LABS[lab]
    variants = Variants(exercises, b"a secret")
    given_away = sum(
        check.points
        for exercise in exercises.exercises
        for check in exercise.checks
        if _is_the_same_for_everybody(variants, exercise, check)
    )
    assert 0 < given_away <= MOST * exercises.points


def _is_the_same_for_everybody(variants: Variants, exercise: Exercise, check: Check) -> bool:
    """Whether the answer in the bundle is right on other inputs, too."""
    if check.hidden or check.versions_of:
        return False
    bundled, *graded = (variants.observe(exercise, check, n, None) for n in (BUNDLE, 0, 1))
    return all(check.judge.compare(bundled, right) is None for right in graded)
