"""The settings in nbgrader_config.py, read without nbgrader."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gradekit.course import Course, load_course
from gradekit.nbgrader_settings import CONFIG_FILE, nbgrader_config
from tests.helpers.tiny_class import COURSE


@pytest.fixture
def course(tmp_path: Path) -> Course:
    (tmp_path / "course.toml").write_text(COURSE)
    return load_course(tmp_path)


def test_a_course_without_the_file_has_no_settings(course: Course) -> None:
    assert nbgrader_config(course) == {}


def test_settings_are_read_and_the_environment_stays(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SET_BY_THE_FILE", raising=False)
    (course.root / CONFIG_FILE).write_text(
        "import os\n"
        "os.environ['SET_BY_THE_FILE'] = '1'\n"
        "c = get_config()\n"
        "c.CourseDirectory.db_url = 'sqlite:///marks.db'\n"
    )
    assert nbgrader_config(course).CourseDirectory.db_url == "sqlite:///marks.db"
    assert "SET_BY_THE_FILE" not in os.environ


def test_it_does_not_import_nbgrader() -> None:
    code = "import sys, gradekit.nbgrader_settings; sys.exit('nbgrader' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
