"""The committed notebooks and checks are what the sources make now, for every lab of the course."""

from __future__ import annotations

import pytest

from gradekit.build.build import find_drift
from tests.helpers.our_labs import COURSE, LABS

# Every known mistake of every lab is observed again, on one core.
pytestmark = [pytest.mark.timeout(1200), pytest.mark.starts_first]


@pytest.mark.parametrize("lab", COURSE.labs)
def test_the_committed_files_are_what_the_source_makes(lab: str) -> None:
    assert find_drift(LABS, [lab]) == [], f"run `lab build {lab}`"
