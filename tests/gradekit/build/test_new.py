"""`lab new`: what it writes builds, and `lab verify` names what is left to write."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gradekit.build import new
from gradekit.build.new import new_exercise, new_lab
from gradekit.build.solved import solved_notebook
from gradekit.build.unfinished import disagreements, points_of, to_fill_in
from gradekit.cli import app
from gradekit.course import Course, load_course
from gradekit.errors import CourseError
from gradekit.exercise.loader import load_lab
from gradekit.exercise.variants import Variants
from gradekit.verify.verify import verify_exercise
from tests.helpers.small_course import COURSE

LAB = "lab02"
EXTENSION = '\n# A remark.\n[[extension]]\nstudent = "ada"\nlab = "lab01"\ndays = 2\n'


@pytest.fixture
def course(tmp_path: Path) -> Course:
    (tmp_path / "course.toml").write_text(COURSE + "limits = { processes = 9 }\n" + EXTENSION)
    return load_course(tmp_path)


@pytest.fixture
def library(course: Course, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A library of the course's own, beside the real one, in a clone with tests."""
    folder = course.root / "lib" / "attnlab"
    folder.mkdir(parents=True)
    (course.root / "tests" / "attnlab").mkdir(parents=True)
    spec = ModuleSpec("attnlab", None, origin=str(folder / "__init__.py"))
    monkeypatch.setattr(new, "find_spec", lambda name: spec)
    import attnlab

    monkeypatch.setattr(attnlab, "__path__", [*attnlab.__path__, str(folder)])
    yield folder
    for name in ("attnlab.clipped", "attnlab.sorted_rows"):
        sys.modules.pop(name, None)


def made(course: Course) -> Course:
    """The course with a new lab."""
    new_lab(course, LAB, 'The "clip" and more')
    return load_course(course.root)


def test_a_lab_comes_a_week_after_the_last_one(course: Course) -> None:
    written = new_lab(course, LAB, 'The "clip" and more')
    assert [path.relative_to(course.root).as_posix() for path in written] == [
        "course.toml", "solutions/lab02_the.py",
    ]  # fmt: skip
    after = load_course(course.root)
    assert after.labs == ("lab01", LAB)
    assert after.lab(LAB).title == 'The "clip" and more'
    for name in ("release", "due"):
        before, moved = getattr(after.lab("lab01"), name), getattr(after.lab(LAB), name)
        assert (moved - before).days == 7
    assert after.limits("lab01").processes == 9
    assert after.due("lab01", "ada") > after.lab("lab01").due


def test_a_lab_without_a_step_builds_and_says_what_is_left(course: Course) -> None:
    after = made(course)
    lab = load_lab(after, LAB)
    assert 'The "clip" and more' in solved_notebook(after, lab).cells[0].source
    left = list(disagreements(after, lab))
    assert left[0].startswith("solutions/lab02_the.py, line 1: fill in the topic in a word")
    assert "solutions/lab02_the.py: lab02 adds up to 4 points, not 100; change" in left[-1]
    assert len(left) == 1 + (after.root / "solutions/lab02_the.py").read_text().count("FILL IN")


def test_an_exercise_builds_is_proven_and_says_what_is_left(course: Course, library: Path) -> None:
    after = made(course)
    written = new_exercise(after, LAB, "clipped", 7)
    assert [path.relative_to(course.root).as_posix() for path in written] == [
        "autograder/exercises/lab02/clipped.py", "lib/attnlab/clipped.py",
        "tests/attnlab/test_clipped.py", "solutions/lab02_the.py",
    ]  # fmt: skip
    new_exercise(after, LAB, "sorted_rows", 10)
    lab = load_lab(after, LAB)
    assert [exercise.name for exercise in lab.exercises] == ["clipped", "sorted_rows"]
    assert [lab.source.step(e.name).number for e in lab.exercises] == ["2.1", "2.2"]
    assert points_of(lab) == 7 + 10 + 4
    text = "\n".join(cell.source for cell in solved_notebook(after, lab).cells)
    assert "def clipped(x: Tensor) -> Tensor:" in text
    assert "21, in two steps and one question" in text
    assert "about 60 minutes" in text
    exercise = lab["clipped"]
    proof = verify_exercise(Variants(lab), exercise, with_mutants=False)
    surprises = list(proof.surprises())
    assert (proof.reference, proof.blank) == (7, 0)
    assert surprises[:-1] == list(to_fill_in(exercise))
    assert (
        "autograder/exercises/lab02/clipped.py, line 1: fill in what the step does" in surprises[0]
    )
    assert any(line.startswith("lib/attnlab/clipped.py, line 9: fill in the") for line in surprises)
    assert "no known mistake; add one with @exercise.mistake" in surprises[-1]


def test_nothing_is_written_over(course: Course, library: Path) -> None:
    after = made(course)
    with pytest.raises(CourseError, match="has a lab lab02 already"):
        new_lab(after, LAB, "Again")
    new_exercise(after, LAB, "clipped")
    for again, sentence in (
        (lambda: new_exercise(after, LAB, "clipped"), "has an exercise clipped already"),
        (lambda: new_lab(after, "Lab 3", "Three"), "cannot be a name; use small letters"),
        (lambda: new_exercise(after, LAB, "top-k"), "cannot be a name"),
    ):
        with pytest.raises(CourseError, match=sentence):
            again()
    (library / "sorted_rows.py").write_text("mine = 1\n")
    with pytest.raises(CourseError, match=r"sorted_rows\.py is already there"):
        new_exercise(after, LAB, "sorted_rows")
    assert (library / "sorted_rows.py").read_text() == "mine = 1\n"
    assert not (after.exercises(LAB) / "sorted_rows.py").exists()


def test_an_installed_library_is_left_alone(course: Course, monkeypatch) -> None:
    spec = ModuleSpec("attnlab", None, origin="/venv/lib/site-packages/attnlab/__init__.py")
    monkeypatch.setattr(new, "find_spec", lambda name: spec)
    with pytest.raises(CourseError, match="work in a clone of this project"):
        new_exercise(made(course), LAB, "clipped")


def test_the_command_says_what_it_wrote_and_what_comes_next(course: Course) -> None:
    root = ["--course", str(course.root)]
    done = CliRunner().invoke(app, ["new", "lab", LAB, "Clipping", *root])
    assert done.output.splitlines() == [
        "wrote course.toml",
        "wrote solutions/lab02_clipping.py",
        "Fill in each FILL IN; next: lab new exercise lab02 NAME",
    ]
