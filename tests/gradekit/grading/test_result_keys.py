"""Saved keys equal computed ones, as long as nothing has changed."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from gradekit.course import load_course
from gradekit.grading.grader import LabGrader
from gradekit.grading.result_keys import load_keys, save_keys, state_of
from gradekit.grading.task import GraderSpec
from tests.helpers.tiny_class import LAB, write_class, write_course

SECRET = b"secret"
WITHOUT_TORCH = """\
import sys
sys.modules["torch"] = None  # an import of it fails
from gradekit.cli import main
main()
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return write_course(tmp_path_factory.mktemp("built") / "course")


@pytest.fixture
def course(built, tmp_path):
    return load_course(shutil.copytree(built.root, tmp_path / "course"))


def keys_of(course):
    with LabGrader(GraderSpec(course, LAB, "auto", SECRET)) as grader:
        return grader.keys


def test_saved_keys_are_the_computed_ones(course, tmp_path):
    keys, state = keys_of(course), state_of(course, LAB, SECRET)
    assert load_keys(tmp_path / "keys.json", state) is None
    save_keys(tmp_path / "keys.json", state, keys)
    assert load_keys(tmp_path / "keys.json", state) == keys
    assert load_keys(tmp_path / "keys.json", "another state") is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"state": "s"}', '{"state": "s", "versions": 1}'])
def test_an_incomplete_file_is_ignored(tmp_path, text):
    (tmp_path / "keys.json").write_text(text)
    assert load_keys(tmp_path / "keys.json", "s") is None


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("course.toml", 'title = "Softmax"', 'title = "Softmax"\nlimits = { memory_mib = 2000 }'),
        ("autograder/exercises/lab01/softmax.py", "points=3", "points=4"),
        ("solutions/lab01_tiny.py", "guess = 4", "guess = 5"),
    ],
)
def test_whatever_changes_keys_changes_the_state(course, file, old, new):
    before = keys_of(course), state_of(course, LAB, SECRET)
    path = course.root / file
    path.write_text(path.read_text().replace(old, new))
    changed = load_course(course.root)
    assert keys_of(changed) != before[0]
    assert state_of(changed, LAB, SECRET) != before[1]


def test_another_secret_is_another_state(course):
    assert state_of(course, LAB, b"other") != state_of(course, LAB, SECRET)


def test_the_command_itself_needs_no_torch(course):
    write_class(course.root)
    first, again = (
        subprocess.run(
            [sys.executable, "-c", WITHOUT_TORCH, "grade", LAB, "--json", "--jobs", "1"],
            cwd=course.root,
            capture_output=True,
            text=True,
            check=False,
        )
        for _ in range(2)
    )
    assert first.returncode == 0, first.stderr
    assert again.stdout == first.stdout
