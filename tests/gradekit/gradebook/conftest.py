"""A course, and an empty gradebook in which its lab is registered."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradekit.course import Course, load_course
from gradekit.gradebook.address import Address
from gradekit.gradebook.gradebook import Book
from gradekit.submissions.released import Released
from tests.helpers import submissions
from tests.helpers.gradebook import DUE
from tests.helpers.late_course import COURSE
from tests.helpers.submissions import LAB


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Released:
    return submissions.released(tmp_path_factory.mktemp("labs"))


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty gradebook; nbgrader takes seconds to make one."""
    path = tmp_path_factory.mktemp("empty") / "gradebook.db"
    with Book(Address(f"sqlite:///{path}", "course")):
        return path


@pytest.fixture
def address(tmp_path: Path, empty: Path) -> Address:
    shutil.copy(empty, tmp_path / "gradebook.db")
    return Address(f"sqlite:///{tmp_path / 'gradebook.db'}", "course")


@pytest.fixture
def book(address: Address, released: Released) -> Iterator[Book]:
    with Book(address) as opened:
        opened.register(LAB, released, DUE)
        yield opened


@pytest.fixture
def course(tmp_path: Path) -> Course:
    (tmp_path / "course.toml").write_text(COURSE)
    return load_course(tmp_path)
