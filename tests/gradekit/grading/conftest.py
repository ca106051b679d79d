"""A class that was graded from start to end, for tests that disturb or repeat its grading."""

from __future__ import annotations

import pytest

from tests.helpers.interruptions import Undisturbed, grade_undisturbed
from tests.helpers.made_once import made_once


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    """Graded once for all files. Read its folders, do not change them."""
    return made_once(
        tmp_path_factory, "undisturbed", lambda folder: grade_undisturbed(folder / "course")
    )
