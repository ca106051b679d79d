"""A notebook reads the solutions, the exercise files, or the parts of the grader that know both."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradekit.exercise import definition
from tests.helpers.attack import assert_unreadable, said

SECRET = "the right answer"
REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "name",
    ["solutions/lab01/lab01_softmax.ipynb", "autograder/exercises/lab01/softmax/mistakes.py"],
)
def test_a_courses_answers_cannot_be_read(sandbox, unconfined, tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text(SECRET)
    assert_unreadable(sandbox, unconfined, path, SECRET)


@pytest.mark.parametrize(
    "name",
    ["lib/attnlab/softmax.py", "autograder/gradekit/exercise/variants.py", "tests/conftest.py"],
)
def test_this_repository_cannot_be_read(sandbox, unconfined, name):
    look = f"print(len(open({str(REPOSITORY / name)!r}).read()), 'characters')"
    assert "characters" in said(unconfined, look)
    assert "characters" not in said(sandbox, look)


def test_its_folders_are_not_listed(sandbox, unconfined):
    known = ("variants.py", "loader.py", "pyproject.toml", "course.toml")
    for folder in (Path(definition.__file__).parent, REPOSITORY):
        look = f"import os\nprint(os.listdir({str(folder)!r}))"
        assert any(name in said(unconfined, look) for name in known)
        assert not any(name in said(sandbox, look) for name in known)


def test_the_parts_that_know_answers_cannot_be_imported(sandbox):
    for module in (
        "gradekit.sandbox.sandbox",
        "gradekit.sandbox.session",
        "gradekit.exercise.definition",
        "gradekit.exercise.variants",
    ):
        __import__(module)
        assert "ModuleNotFoundError" in said(sandbox, f"import {module}")


def test_the_library_inside_knows_no_answers(sandbox):
    """Here it holds only the code of checks; other tests check what a student library holds."""
    assert "ModuleNotFoundError" in said(sandbox, "from attnlab.softmax import softmax")
