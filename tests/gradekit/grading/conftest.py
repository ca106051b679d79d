"""A class that was graded from start to end, for tests that disturb or repeat its grading."""

from __future__ import annotations

import pytest

from tests.helpers.undisturbed import Undisturbed, grade_undisturbed


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    """Graded once for a file. Read it, do not change it."""
    root = tmp_path_factory.mktemp("class") / "course"
    root.mkdir()
    return grade_undisturbed(root)
