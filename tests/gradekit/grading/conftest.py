"""A class that was graded from start to end, for tests that disturb or repeat its grading."""

from __future__ import annotations

import pytest

from tests.helpers.once_for_all import made_once
from tests.helpers.undisturbed import Undisturbed, grade_undisturbed


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    """Graded once for all files. Read its folders, do not change them."""
    return made_once(
        tmp_path_factory, "undisturbed", lambda folder: grade_undisturbed(folder / "course")
    )
