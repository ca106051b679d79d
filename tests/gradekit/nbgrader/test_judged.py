"""The level of isolation for ``nbgrader validate``; what it judges is in test_validate.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradekit.course import load_course
from gradekit.errors import CourseError
from gradekit.nbgrader.judged import _grader
from tests.helpers.late_course import COURSE


def test_an_unknown_level_in_the_settings_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "course.toml").write_text(COURSE)
    (tmp_path / "nbgrader_config.py").write_text(
        "c = get_config()\nc.SandboxExecute.confinement = 'docker'\n"
    )
    with pytest.raises(CourseError, match=r"SandboxExecute\.confinement: .*'docker'"):
        _grader(load_course(tmp_path), "lab01")
