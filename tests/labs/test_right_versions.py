"""Right versions that students' tests are tried on can be called as the task says."""

from __future__ import annotations

import inspect

import pytest

from gradekit.course import load_course
from gradekit.exercise.loader import load_lab
from tests.helpers.small_course import PROJECT


def parameters(definition):
    """The names of a function's parameters; of a module, those of its two functions."""
    called = getattr(definition, "forward", definition)
    return [[*inspect.signature(one).parameters] for one in (definition, called)]


@pytest.mark.parametrize("lab", [f"lab{number:02}" for number in range(1, 6)])
def test_a_tested_version_has_the_parameters_of_the_task(lab):
    """A careful test passes arguments by name, as in the task's first line."""
    exercises = load_lab(load_course(PROJECT), lab)
    tested = {check.versions_of for one in exercises.exercises for check in one.checks} - {None}
    assert tested
    for name in tested:
        (reference,) = exercises[name].references
        wanted = parameters(reference)
        for version in exercises[name].right_versions:
            found = parameters(version.function)
            pairs = zip(found, wanted, strict=True)
            assert all(own[: len(task)] == task for own, task in pairs), version.name
