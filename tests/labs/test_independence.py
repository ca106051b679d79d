"""A wrong step costs the next one nothing, except the one check that is there to chain them."""

import pytest

from demo.classroom import LAB, room_of
from gradekit.grader import GraderSpec, LabGrader
from gradekit.submission import Handin, read_submission

EXERCISES = (
    "softmax", "log_softmax", "cross_entropy", "softmax_backward", "temperature",
    "basic_self_attention", "equivariance_gap", "test_softmax", "predictions", "errata",
)  # fmt: skip


@pytest.fixture(scope="module")
def grader(built_course):
    with LabGrader(GraderSpec(built_course, LAB, "bubblewrap", b"a secret")) as grader:
        yield grader


@pytest.fixture(scope="module")
def room(built_course):
    return room_of(built_course)


def results(grader, notebook):
    name = f"{grader.released.name}.ipynb"
    handin = Handin("ada", LAB, {name: notebook.bytes()}, {name: 0.0}, (), "digest", None)
    graded = grader.grade(read_submission(handin, grader.released))
    assert graded.broken is None
    return {result.exercise: result for result in graded.results}


def test_the_list_is_the_labs(grader):
    assert {exercise.name for exercise in grader.exercises.exercises} == set(EXERCISES)


@pytest.mark.parametrize("broken", EXERCISES)
def test_only_the_broken_steps_points_are_lost(grader, room, broken):
    at = room.solved.answer_at(broken)
    blank = room.released.source(room.released.answer_at(broken))
    chained = {
        (exercise.name, check.name)
        for exercise in grader.exercises.exercises
        for check in exercise.checks
        if check.chained
    }
    assert chained, "the lab has a chained check"
    found = results(grader, room.solved.with_source(at, blank))
    assert found[broken].earned < found[broken].points
    for name, result in found.items():
        if name != broken:
            failed = {(name, check.name) for check in result.checks if not check.passed}
            assert failed <= chained
