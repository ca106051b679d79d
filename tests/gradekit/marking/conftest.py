"""Seven students: two with the same answer, one with none, one with a hostile one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gradekit.course import Course, load_course
from tests.helpers.marked_class import SCHEME, grade, write_course

EVIL = "</p><script>PWN()</script><img src=x onerror=PWN()>\u202e"
TEXTS = {
    "ada": "It keeps the exponentials finite.",
    "bob": "Nobody knows.",
    "cyd": EVIL,
    "dan": "Because of overflow.",
    "eve": "it keeps  the exponentials finite.",
    "fay": "",
    "gil": "The largest exponent becomes 0.",
}


@pytest.fixture(scope="session")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    course = write_course(tmp_path_factory.mktemp("marking") / "course", SCHEME)
    grade(course, TEXTS)
    return course.root


@pytest.fixture
def course(graded: Path, tmp_path: Path) -> Course:
    """A copy of the graded class, to mark as you like."""
    copy = load_course(Path(shutil.copytree(graded, tmp_path / "course")))
    grade(copy, TEXTS)  # the journal knows a gradebook by its path
    return copy
