"""A hand-in once more: the inputs on which it failed, in the sandbox and without a trace."""

import os
import re
import shutil
from pathlib import Path

import pytest
import torch

from gradekit.course import load_course
from gradekit.errors import CollectError, CourseError, NotebookError
from gradekit.grading.replay import replay
from tests.helpers.needs import require
from tests.helpers.tiny_class import LAB, WRONG, hand_in, notebook, write_course

SIZES = '''

@exercise.check(points=1, hidden=True)
def every_size(lab, draw):
    """Is right at every size."""
    return draw.each_size(lambda T, d: lab.softmax(draw.normal(T, d)), T=2, d=4)


@exercise.check(points=1, hidden=True)
def two_answers(lab, draw):
    """Leaves its input alone."""
    x = draw.normal(3)
    return {"sum": lab.softmax(x).sum(), "untouched": draw.untouched()}
'''
FAILS_AT_ONE = "def softmax(x, dim=-1):\n    return x.softmax(dim).squeeze(0)"
RAISES = 'def softmax(x, dim=-1):\n    raise ValueError("[bold]\\x1b[31m no")'
WRITES = (
    "import os, pathlib\n"
    "pathlib.Path({there!r}).write_text('student code was here')\n"
    "def softmax(x, dim=-1):\n"
    "    return float(os.getpid())"
)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Three hand-ins, not graded: a replay needs no result."""
    require("sandbox")
    root = write_course(tmp_path_factory.mktemp("replay") / "course").root
    exercise = root / "autograder" / "exercises" / LAB / "softmax.py"
    exercise.write_text(
        exercise.read_text().replace("\n\n@exercise.mistake", f"{SIZES}\n\n@exercise.mistake", 1)
    )
    hand_in(root, "bob", notebook(root, softmax=WRONG, guess="guess = 5"))
    hand_in(root, "cyd", notebook(root, softmax=FAILS_AT_ONE))
    hand_in(root, "dan", notebook(root, softmax=RAISES))
    return load_course(root)


@pytest.fixture(scope="module")
def bob(course):
    """Two steps of a hand-in with a mistake in each."""
    softmax, guess = replay(course, LAB, "bob", ["softmax", "guess"])
    return {check.name: check for check in (*softmax.failed, *guess.failed)}


def failed(course, student):
    (replayed,) = replay(course, LAB, student, ["softmax"])
    return {check.name: check for check in replayed.failed}


def numbers(text):
    """The numbers of a table, its first line left out."""
    return torch.tensor([float(n) for n in re.findall(r"-?\d+\.\d*", text.split("\n", 1)[1])])


def test_the_call_whose_result_differs_is_beside_both_results(bob):
    assert list(bob) == ["another_axis", "right"]
    check = bob["another_axis"]
    (call,) = check.calls
    assert call.function == "softmax"
    assert dict(call.arguments)["dim"] == "0"
    assert dict(call.arguments)["x"].startswith("float64 of shape (2, 5)\n[[")
    for text in (check.expected, check.seen):
        assert text.startswith("float64 of shape (2, 5)\n[[0.")
    assert check.expected != check.seen
    assert check.difference.startswith("every entry differs, the first at index (0, 0). Yours sum ")
    assert (check.hidden, check.more_calls) == (True, 0)
    assert check.file == f"autograder/exercises/{LAB}/softmax.py"


def test_both_results_are_those_of_the_inputs_that_are_shown(bob):
    """So the inputs are really the student's."""
    check = bob["another_axis"]
    x = numbers(dict(check.calls[0].arguments)["x"]).reshape(2, 5)
    assert torch.allclose(x.softmax(0).flatten(), numbers(check.expected), atol=2e-4)
    assert torch.allclose(x.softmax(-1).flatten(), numbers(check.seen), atol=2e-4)


def test_a_check_at_several_sizes_shows_the_one_that_failed(course):
    check = failed(course, "cyd")["every_size"]
    assert check.case == check.place == "T = 1"
    assert check.calls[0].arguments[0][1].startswith("float64 of shape (1, 4)")
    assert check.more_calls > 0
    assert (check.expected.splitlines()[0], check.seen.splitlines()[0]) == (
        "float64 of shape (1, 4)", "float64 of shape (4,)"
    )  # fmt: skip


def test_an_answer_that_is_not_a_function(bob):
    check = bob["right"]
    assert (check.calls, check.expected, check.seen) == ((), "4", "5")


def test_an_exception_is_what_came_out(course):
    checks = failed(course, "dan")
    assert checks["two_answers"].seen == "ValueError: [bold]\x1b[31m no"
    assert checks["two_answers"].calls[0].function == "softmax"


def test_student_code_runs_in_the_sandbox_alone(course, tmp_path):
    root = Path(shutil.copytree(course.root, tmp_path / "course"))
    there = tmp_path / "written"
    code = WRITES.format(there=str(there))
    exec(code, {})  # the attack works outside
    assert there.read_text() == "student code was here"
    there.unlink()
    hand_in(root, "eve", notebook(root, softmax=code))
    before = sorted(path for path in root.rglob("*") if path.is_file())
    checks = failed(load_course(root), "eve")
    assert not there.exists()
    assert checks["numbers"].seen != repr(float(os.getpid()))
    after = {path for path in root.rglob("*") if path.is_file()} - set(before)
    assert {path.name for path in after} <= {"secret"}, "nothing of the run is kept"


@pytest.mark.parametrize(
    ("student", "level", "error", "told"),
    [
        ("zoe", "auto", CollectError, "no hand-in of zoe for lab01 in submitted/"),
        ("bob", "docker", CourseError, "choose one of auto, bubblewrap, landlock, none"),
        ("fay", "auto", NotebookError, "the hand-in of fay cannot run: "),
    ],
)
def test_what_cannot_run_is_one_sentence(course, student, level, error, told):
    hand_in(course.root, "fay", b"not a notebook")
    with pytest.raises(error, match=told):
        replay(course, LAB, student, ["softmax"], level)
