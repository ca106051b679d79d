"""nbgrader with no plugin of ours: the solved notebook gets all points, the untouched one none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from attnlab import encoder_decoder
from gradekit.course import load_course
from gradekit.exercise.loader import load_lab
from gradekit.exercise.variants import Variants
from gradekit.nbgrader.unsandboxed import judge_names
from tests.helpers.small_course import PROJECT
from tests.helpers.tiny_class import LAB, NAME, write_course

# Only the folders: every preprocessor and the students' stub are nbgrader's own.
CONFIG = """\
c = get_config()
c.CourseDirectory.course_id = "stock"
c.CourseDirectory.source_directory = "solutions"
"""


def nbgrader(root: Path, *arguments: str) -> None:
    """Run a real nbgrader command in the course's folder."""
    library = os.pathsep.join(str(PROJECT / name) for name in ("lib", "autograder"))
    run = subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
        env={
            "HOME": str(root / "home"),
            # Tests share the machine's cores: threads of one notebook would wait for each other.
            "OMP_NUM_THREADS": "1",
            # nbgrader calls `alembic`, which is next to this Python.
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": library,
        },
    )
    assert run.returncode == 0, run.stdout + run.stderr


def half_done(solved: Path, untouched: Path) -> nbformat.NotebookNode:
    """The untouched notebook with the answers of the first exercise filled in."""
    answers = {cell.id: cell.source for cell in nbformat.read(solved, as_version=4).cells}
    notebook = nbformat.read(untouched, as_version=4)
    cell = next(cell for cell in notebook.cells if cell.id == "softmax")
    cell.source = answers["softmax"]
    return notebook


@pytest.fixture(scope="module")
def variants():
    return Variants(load_lab(load_course(PROJECT), LAB))


def test_a_warning_on_stderr_costs_nothing(variants, capsys):
    """nbgrader gives a cell no points for anything on stderr, so nothing may get there."""
    softmax = variants.lab.reference["softmax"]

    def noisy(x, dim=-1):
        print("careful!", file=sys.stderr)
        return softmax(x, dim)

    verdict = judge_names(
        variants, variants.lab["softmax"], {**variants.lab.reference, "softmax": noisy}
    )
    assert verdict.earned == verdict.points
    assert capsys.readouterr().err == ""


def test_part_of_an_answer_earns_part_of_the_points(variants):
    def softmax(x, dim=-1):
        return x.exp() / x.exp().sum(dim, keepdim=True)

    names = {**variants.lab.reference, "softmax": softmax}
    verdict = judge_names(variants, variants.lab["softmax"], names)
    assert 0 < verdict.earned < verdict.points


def test_a_wrong_step_costs_the_next_one_nothing(variants):
    """An exercise uses the reference of an earlier one, unless its check is chained."""
    names = {**variants.lab.reference, "softmax": lambda x, dim=-1: x}
    exercise = variants.lab["basic_self_attention"]
    assert judge_names(variants, exercise, names).passed


def test_a_class_built_from_the_notebook_s_own_earlier_classes_loses_nothing():
    """The notebook's `Transformer` has layers of the notebook; `lab` has the library's classes."""
    variants = Variants(load_lab(load_course(PROJECT), "lab07"))
    exercise, reference = variants.lab["transformer"], variants.lab.reference
    notebook = {"__name__": "notebook"}
    exec(Path(encoder_decoder.__file__).read_text("utf-8"), notebook)
    names = {**reference, "Transformer": notebook["Transformer"]}
    assert notebook["EncoderLayer"] is not reference["EncoderLayer"]
    asked = ("layers_of_their_own", "last_encoder_layer", "given_weights")
    for check in (check for check in exercise.checks if check.name in asked):
        expected, seen = (variants.run(exercise, check, 0, n, ()) for n in (reference, names))
        assert check.judge.compare(expected, seen) is None, check.name


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A lab of two exercises, released and autograded by nbgrader's own commands."""
    root = tmp_path_factory.mktemp("stock")
    course = write_course(root)
    shutil.rmtree(root / "labs")
    (root / "nbgrader_config.py").write_text(CONFIG)
    (root / "home").mkdir()
    nbgrader(root, "generate_assignment", LAB)

    solved = root / "solutions" / LAB / f"{NAME}.ipynb"
    untouched = root / "release" / LAB / f"{NAME}.ipynb"
    for student, notebook in (
        ("solved", nbformat.read(solved, as_version=4)),
        ("untouched", nbformat.read(untouched, as_version=4)),
        ("half", half_done(solved, untouched)),
    ):
        folder = root / "submitted" / student / LAB
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / f"{NAME}.ipynb")
    nbgrader(root, "autograde", LAB)
    return course


def scores(course, student: str) -> dict[str, float | None]:
    """Points by grade cell; None if a TA has not marked it yet."""
    with Gradebook(f"sqlite:///{course.root / 'gradebook.db'}", "stock") as gradebook:
        notebook = gradebook.find_submission_notebook(NAME, LAB, student)
        return {
            grade.name: None if grade.needs_manual_grade else grade.score
            for grade in notebook.grades
        }


def points(course) -> dict[str, float]:
    return {
        f"check_{exercise.name}": exercise.points for exercise in load_lab(course, LAB).exercises
    }


def test_the_solved_notebook_gets_every_point(graded):
    earned = scores(graded, "solved")
    assert {name: earned[name] for name in points(graded)} == points(graded)
    assert [name for name, score in earned.items() if score is None] == [
        name for name in earned if name not in points(graded)
    ]


def test_the_untouched_notebook_gets_none(graded):
    assert set(scores(graded, "untouched").values()) == {0}


def test_a_half_done_notebook_gets_the_points_of_its_answers(graded):
    earned = scores(graded, "half")
    assert earned["check_softmax"] == points(graded)["check_softmax"]
    assert earned["check_guess"] == 0


def test_the_released_notebook_shows_nothing_hidden(graded):
    text = (graded.root / "release" / LAB / f"{NAME}.ipynb").read_text("utf-8")
    assert "gradekit" not in text
    assert "HIDDEN" not in text
    assert "SOLUTION" not in text
    assert (graded.root / "release" / LAB / "checks.safetensors").is_file()
