"""The lines about who gave which mark."""

from __future__ import annotations

import pytest

from gradekit.course import Course
from gradekit.errors import ResultNotKeptError
from gradekit.marking.history import GivenMark, append, history_path, latest
from tests.helpers.submissions import LAB


def given(points: float) -> GivenMark:
    return GivenMark("ada", "explain", points, "Yes.", (0, 1), "Kim")


def test_the_last_line_counts_and_damaged_ones_do_not(course: Course) -> None:
    assert latest(course, LAB) == {}
    append(course, LAB, given(1))
    with history_path(course, LAB).open("a") as file:
        file.write('{"student": "ada"}\n[]\nhalf of a li\n')
    append(course, LAB, given(3))
    found = latest(course, LAB)["ada", "explain"]
    assert (found.points, found.items, found.marker) == (3, (0, 1), "Kim")
    assert found.at.endswith("+00:00")


def test_a_line_that_cannot_be_written_is_an_error(course: Course) -> None:
    history_path(course, LAB).mkdir()
    with pytest.raises(ResultNotKeptError, match="the mark is in the gradebook"):
        append(course, LAB, given(1))
