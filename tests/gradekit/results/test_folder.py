"""The results folder: its paths, and the secret that the first run makes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from gradekit.errors import CourseError
from gradekit.results import folder
from gradekit.results.journal import Journal

if TYPE_CHECKING:
    from pathlib import Path


def test_each_lab_has_its_own_files_in_the_results_folder(tmp_path: Path) -> None:
    course: Any = SimpleNamespace(root=tmp_path)
    assert folder.results_folder(course) == tmp_path / "results"
    paths = [
        make(course, lab)
        for make in (folder.journal_path, folder.failures_path, folder.keys_path)
        for lab in ("lab01", "lab02")
    ]
    assert len(set(paths)) == len(paths)
    assert {path.parent for path in paths} == {folder.results_folder(course)}


def test_the_journals_lock_is_another_file(tmp_path: Path) -> None:
    course: Any = SimpleNamespace(root=tmp_path)
    path = folder.journal_path(course, "lab01")
    with Journal(path):
        there = {item.name for item in path.parent.iterdir()}
    assert there == {"lab01.jsonl", "lab01.lock"}


def test_the_secret_is_made_once(tmp_path: Path) -> None:
    first = folder.course_secret(tmp_path / "results")
    assert len(first) == 32
    assert folder.course_secret(tmp_path / "results") == first


@pytest.mark.parametrize("short", [b"x", b"half"])
def test_a_secret_that_could_be_guessed_is_an_error(tmp_path: Path, short: bytes) -> None:
    """Another one would be made in silence, and all hand-ins be graded again."""
    (tmp_path / "secret").write_bytes(short)
    with pytest.raises(CourseError, match=f"has {len(short)} of 32 bytes, so hidden inputs could"):
        folder.course_secret(tmp_path)
    assert (tmp_path / "secret").read_bytes() == short


def test_a_secret_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    with pytest.raises(CourseError, match="cannot be read"):
        folder.course_secret(tmp_path)
