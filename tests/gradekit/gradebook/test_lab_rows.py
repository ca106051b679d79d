"""The kinds of released cells, and the rows that each of them has."""

from __future__ import annotations

from typing import Any

import pytest

from gradekit.gradebook.lab_rows import earns_points, is_written_by_students
from gradekit.submissions.released import Released, TargetCell


def test_each_kind_has_its_rows(released: Released) -> None:
    found = {
        target.kind: (earns_points(target), is_written_by_students(target))
        for target in released.targets
    }
    assert found == {"test": (True, False), "solution": (False, True), "answer": (True, True)}
    locked = TargetCell("text", "locked", released.notebook.cells[0])
    assert (earns_points(locked), is_written_by_students(locked)) == (False, False)


def test_an_unknown_kind_raises(released: Released) -> None:
    kind: Any = "poem"
    target = TargetCell("text", kind, released.notebook.cells[0])
    for question in (earns_points, is_written_by_students):
        with pytest.raises(AssertionError, match="poem"):
            question(target)
