"""A chained check accepts every right version of the student's other steps, not only ours.

Checks of saved weights are left out: they are those of our own layers, which others cannot load.
"""

import pytest

from demo.answers import answered, put_in, right_answer
from demo.classroom import material_of
from tests.helpers.our_labs import CLINIC, COURSE, LABS, OUR_LABS

# One lab shows it in the usual run.
SHOWN = "lab03"
# Labs without a chained check, or whose only one is about saved weights.
WITHOUT = {"lab00", "lab02", "lab07", "lab09", "lab10", CLINIC}
CHAINED = [
    pytest.param(lab, marks=pytest.mark.slow if lab != SHOWN else ())
    for lab in OUR_LABS
    if lab not in WITHOUT
]


@pytest.mark.slow
def test_no_lab_with_a_chained_check_is_left_out():
    for lab in OUR_LABS:
        steps = [exercise for exercise in LABS[lab].exercises if not exercise.saves]
        chained = any(check.chained for step in steps for check in step.checks)
        assert chained == (lab not in WITHOUT), lab


@pytest.mark.parametrize("lab", CHAINED)
def test_every_right_version_of_another_step_keeps_the_points_of_a_chain(lab):
    material = material_of(COURSE, lab)
    versions = [
        (exercise, version)
        for exercise in LABS[lab].exercises
        for version in exercise.right_versions
        if version.of and not version.saved
    ]
    assert versions
    for exercise, version in versions:
        text = put_in(right_answer(material.solved, exercise.name), exercise, version)
        earned = material.marks.of(answered(material.right, {exercise.name: text}), [])
        assert earned == material.marks.full, version.name
