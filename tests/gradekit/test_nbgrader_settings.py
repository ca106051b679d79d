"""The settings in nbgrader_config.py, read without nbgrader."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gradekit.course import Course, load_course
from gradekit.nbgrader_settings import CONFIG_FILE, exchange_config, nbgrader_config
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


def test_a_machine_says_where_the_exchange_is_unless_the_course_does(
    course: Course, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    machine = tmp_path / "etc"
    machine.mkdir()
    (machine / CONFIG_FILE).write_text(
        "c = get_config()\nc.Exchange.root = '/srv/exchange'\nc.CourseDirectory.course_id = 'x'\n"
    )
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(machine))
    (course.root / CONFIG_FILE).write_text("c.CourseDirectory.course_id = 'attention-labs'\n")
    assert exchange_config(course).Exchange.root == "/srv/exchange"
    assert exchange_config(course).CourseDirectory.course_id == "attention-labs"
    assert "Exchange" not in nbgrader_config(course)


def test_it_does_not_import_nbgrader() -> None:
    code = "import sys, gradekit.nbgrader_settings; sys.exit('nbgrader' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
