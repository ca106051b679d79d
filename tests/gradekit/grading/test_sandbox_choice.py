"""The sandbox that `lab grade` takes by default: what it says first, and what it records."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gradekit.course import Course
from gradekit.errors import SandboxUnavailableError
from gradekit.grading import grade
from gradekit.grading.grade import Settings
from gradekit.grading.view import progress_bar
from gradekit.sandbox import bubblewrap, landlock_policy
from gradekit.sandbox.levels import choose
from tests.helpers import tiny_class
from tests.helpers.tiny_class import LAB, journal_of


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    root = tmp_path_factory.mktemp("chosen") / "course"
    root.mkdir()
    course = tiny_class.write_course(root)
    tiny_class.hand_in(root, "ada", tiny_class.notebook(root))
    return course


def graded(course: Course, *options: str, **variables: str) -> tuple[list[str], dict]:
    """The lines of the error stream, and ada's row."""
    run = tiny_class.lab(course.root, "grade", LAB, "--json", "--again", *options, **variables)
    assert run.returncode == 0, run.stderr
    (row,) = json.loads(run.stdout)
    assert row["points"] == {"softmax": 5.0, "guess": 1.0}
    return run.stderr.splitlines(), row


@pytest.mark.needs("landlock")
def test_without_bubblewrap_landlock_is_taken_said_and_recorded(course, tmp_path):
    errors, row = graded(course, PATH=str(tmp_path))
    assert errors[0].startswith("sandbox: Landlock")
    assert "Not covered: whether a file exists" in errors[0]
    assert "bubblewrap is not installed; get it with `sudo apt install bubblewrap`" in errors[0]
    assert row["sandbox"] == ["landlock"]
    results = [line for line in journal_of(course.root) if line["kind"] == "exercise"]
    assert {line["sandbox"] for line in results} == {"landlock"}


@pytest.mark.needs("sandbox")
def test_the_strongest_one_is_taken_said_and_recorded(course):
    chosen = choose()
    errors, row = graded(course)
    assert errors[0] == chosen.line
    assert row["sandbox"] == [chosen.level]


def test_none_is_taken_only_if_you_ask_for_it(course, monkeypatch):
    """Nothing is changed, and the sentence says what to install."""
    monkeypatch.setattr(bubblewrap, "why_unavailable", lambda: "bubblewrap is not installed")
    monkeypatch.setattr(landlock_policy, "why_refused", lambda: "the kernel has no Landlock")
    before = files_of(course.root)
    with (
        progress_bar(quiet=True) as progress,
        pytest.raises(SandboxUnavailableError, match="so none is run: bubblewrap is not installed"),
    ):
        grade.grade_lab(course, LAB, Settings(jobs=1, again=True), progress)
    assert files_of(course.root) == before


def files_of(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}
