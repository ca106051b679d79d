"""The tables of the labs in the README and in docs/instructor.md say what the labs' files say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.helpers.our_labs import COURSE, LABS, OUR_LABS

ROOT = Path(__file__).resolve().parents[2]
_LINK = re.compile(r"\[lab (\d+)\]\((?:\.\./)?labs/lab(\d\d)\)")


def table_of_labs(file: str) -> dict[str, list[str]]:
    """The cells after the first one of each row that begins with a link to a lab."""
    rows = {}
    for line in (ROOT / file).read_text("utf-8").splitlines():
        first, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        if link := _LINK.fullmatch(first):
            assert int(link[1]) == int(link[2]), line
            rows[f"lab{link[2]}"] = cells
    return rows


@pytest.mark.parametrize("file", ["README.md", "docs/instructor.md"])
def test_every_lab_has_its_row_in_order(file: str) -> None:
    labs = list(table_of_labs(file))
    assert labs == sorted(labs)
    assert set(OUR_LABS) <= set(labs) <= set(COURSE.labs)


@pytest.mark.parametrize("lab", OUR_LABS)
def test_steps_points_and_minutes_are_those_of_the_lab(lab: str) -> None:
    loaded = LABS[lab]
    graded = [exercise for exercise in loaded.exercises if exercise.points]
    points = loaded.points + sum(cell.points for cell in loaded.source.of("free_text"))
    minutes = sum(loaded.source.step(exercise.name).minutes for exercise in graded)
    assert COURSE.lab(lab).points == points
    *of_files, running, grading = table_of_labs("docs/instructor.md")[lab]
    assert of_files == [str(len(graded)), f"{points:g}", str(minutes)]
    assert min(float(running), float(grading)) > 0, "both are measured"
    assert table_of_labs("README.md")[lab][-1] == f"{points:g}"
