"""A class of 300 with planted misconceptions, put together from records."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from gradekit.course import Course
from gradekit.report.report import Report, make_report
from tests.helpers.planted_class import LAB, write_class

NOW = datetime(2026, 9, 21, 7, 0, tzinfo=UTC)


@pytest.fixture(scope="session")
def big_class(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Read it, do not change it."""
    return write_class(tmp_path_factory.mktemp("planted") / "course", 300, with_code=True)


@pytest.fixture(scope="session")
def report(big_class: Course) -> Report:
    return make_report(big_class, LAB, NOW)


@pytest.fixture
def small_class(tmp_path: Path) -> Course:
    """Two who handed in, and two who did not: to change as you like."""
    return write_class(tmp_path / "course", 4, ())
