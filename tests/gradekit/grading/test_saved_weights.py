"""What a hand-in trained is graded by its saved weights; without them it is trained once."""

import shutil

import pytest
import torch
from safetensors.torch import save

from gradekit.build.build import build_labs
from gradekit.course import load_course
from gradekit.exercise.loader import CourseLabs
from gradekit.grading.grader import LabGrader
from gradekit.grading.lab_solution import check_lab_solution
from gradekit.grading.task import GraderSpec
from gradekit.submissions.folder import SubmittedFiles
from gradekit.submissions.submission import read_submission
from tests.helpers.small_course import PROJECT

FILE = "line.safetensors"

COURSE = """\
[course]
name = "A course that trains"

[[lab]]
id = "lab01"
title = "A line"
release = 2026-09-14T08:00:00
due = 2026-09-20T23:59:00
"""

SOURCE = """\
# %%
import torch
from torch import nn

from attnlab import check
from attnlab.notebook.saved import trained

# %% exercise="rate"
# How large a step?
### BEGIN SOLUTION
rate = 0.25
### END SOLUTION

# %%
def fit(line):
    optimizer = torch.optim.SGD(line.parameters(), lr=rate)
    x = torch.linspace(-1, 1, 33)[:, None]
    losses = []
    for _ in range(200):
        loss = (line(x) - 3 * x - 1).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses

line, losses = trained("line.safetensors", lambda: nn.Linear(1, 1), fit)

# %%
check("rate")
"""

EXERCISE = '''\
"""rate: the size of a step."""
import torch
from attnlab.checking.weights import MissingWeightError, give_weights
from gradekit.exercise import Exercise
from gradekit.exercise.trained import Band, ScoreBands

exercise = Exercise(answers=["rate"], saves=["line.safetensors"])


def closeness(weights, seed):
    line = torch.nn.Linear(1, 1)
    give_weights(line, dict(line.named_parameters()))
    if set(weights) != {"weight", "bias"}:
        raise MissingWeightError("another model")
    x = torch.randn(50, 1, generator=torch.Generator().manual_seed(seed))
    return -float((x @ weights["weight"].T + weights["bias"] - 3 * x - 1).abs().max())


@exercise.check(points=1)
def a_number(lab, draw):
    """It is a number."""
    return lab.rate > 0


@exercise.check(points=4, hidden=True, judge=ScoreBands(
    closeness, (Band(-0.01, 0, 1), Band(-2, -0.01, 0.25, "Let it train for longer."))
))
def fits(lab, draw):
    """The line that was saved fits points that it has not seen."""
    return lab.saved_weights("line.safetensors")


@exercise.mistake("Which way is downhill?")
def uphill():
    return {"rate": -1}


@exercise.mistake("That is where it started.", of="line.safetensors")
def untrained():
    return {"weight": torch.zeros(1, 1), "bias": torch.zeros(1)}
'''

RIGHT = {"weight": torch.tensor([[3.0]]), "bias": torch.tensor([1.0])}


@pytest.fixture(scope="module")
def grader(tmp_path_factory):
    root = tmp_path_factory.mktemp("course")
    folder = root / "autograder" / "exercises" / "lab01"
    folder.mkdir(parents=True)
    (root / "solutions").mkdir()
    (root / "course.toml").write_text(COURSE)
    shutil.copy(PROJECT / "nbgrader_config.py", root)
    (root / "solutions" / "lab01_line.py").write_text(SOURCE)
    (folder / "rate.py").write_text(EXERCISE)
    (folder / FILE).write_bytes(save(RIGHT))
    course = load_course(root)
    build_labs(CourseLabs(course), ["lab01"])
    with LabGrader(GraderSpec(course, "lab01", "auto", b"a secret")) as grader:
        yield grader


def hand_in(grader, weights=None):
    course = grader.spec.course
    (path,) = (course.root / "solutions" / "lab01").glob("*.ipynb")
    files = {path.name: path.read_bytes()}
    if weights is not None:
        files[FILE] = weights
    submitted = SubmittedFiles("ada", "lab01", files, dict.fromkeys(files, 0.0), (), "digest", None)
    graded = grader.grade(read_submission(submitted, grader.released))
    assert graded.broken is None
    text = "".join(
        "".join(output.get("text", "")) for outputs in graded.outputs.values() for output in outputs
    )
    (result,) = graded.results
    return result, text


def test_saved_weights_are_used_and_nothing_is_trained(grader):
    result, text = hand_in(grader, save(RIGHT))
    assert result.earned == 5
    assert "Loaded" in text
    assert "Trained" not in text


def test_without_them_it_is_trained_in_the_sandbox(grader):
    result, text = hand_in(grader)
    assert result.earned == 5
    assert "Trained" in text


def test_weights_that_do_less_earn_less_and_are_told_why(grader):
    result, _ = hand_in(grader, save({**RIGHT, "weight": torch.tensor([[2.8]])}))
    assert result.earned == 2
    assert any("Let it train for longer" in advice for advice in result.advice)


@pytest.mark.parametrize("file", [b"", b"{}", b"\x80\x04K\x01.", save({"other": torch.ones(3)})])
def test_a_file_that_is_no_such_weights_is_trained_over(grader, file):
    result, text = hand_in(grader, file)
    assert result.earned == 5
    assert "trained again" in text


def test_weights_that_are_not_numbers_earn_nothing(grader):
    nan = {name: torch.full_like(tensor, torch.nan) for name, tensor in RIGHT.items()}
    assert hand_in(grader, save(nan))[0].earned == 1


def test_the_labs_own_solution_is_proved_with_its_own_weights(grader):
    check_lab_solution(grader)


def test_the_bundle_of_students_holds_no_weights(grader):
    released = grader.spec.course.root / "labs" / "lab01"
    assert not list(released.rglob(FILE))
