"""Labs 0 and 1 as their authors wrote them: scripts that run, text that keeps to the form."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gradekit.catalog import load_lab
from gradekit.course import load_course
from gradekit.source import Cell, read_source

ROOT = Path(__file__).resolve().parents[2]
SOURCES = {"lab00": "lab00_setup.py", "lab01": "lab01_softmax.py"}
SCREEN = 45  # lines of prose, unfolded, between two things that a student does


@pytest.mark.parametrize("name", SOURCES.values())
def test_the_source_runs_as_a_script_without_a_display(name: str, tmp_path: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "DISPLAY"}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "solutions" / name)],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_lab_1_has_ten_exercises_and_a_question_worth_100_points_together() -> None:
    lab = load_lab(load_course(ROOT), "lab01")
    (question,) = read_source(ROOT / "solutions" / SOURCES["lab01"]).of("free_text")
    assert len(lab.exercises) == 10
    assert lab.points + question.points == 100
    visible = sum(c.points for e in lab.exercises for c in e.checks if not c.hidden)
    assert 0.4 < visible / lab.points < 0.6


@pytest.mark.parametrize("lab", SOURCES)
def test_points_in_the_text_are_those_of_the_checks(lab: str) -> None:
    exercises = load_lab(load_course(ROOT), lab)
    points = 0
    for cell in read_source(ROOT / "solutions" / SOURCES[lab]).cells:
        if found := re.search(r"^\*(\d+) points?,", cell.text, re.MULTILINE):
            points = int(found[1])
        elif cell.role == "exercise":
            assert points == exercises[cell.name].points, cell.name


@pytest.mark.parametrize("lab", SOURCES)
def test_every_function_has_its_why_predict_hints_check_and_look(lab: str) -> None:
    cells = read_source(ROOT / "solutions" / SOURCES[lab]).cells
    for place, cell in enumerate(cells):
        if cell.role == "exercise" and cell.text.startswith("from attnlab"):
            before, after = cells[place - 1], cells[place + 1 : place + 4]
            if "from attnlab.data" in cell.text:
                continue  # an answer of the lab's own
            assert "**Predict.**" in before.text, cell.name
            hints = re.findall(r"<summary>Hint (\d): ([a-z ]+)</summary>", before.text)
            assert hints == [("1", "a question"), ("2", "a plan"), ("3", "nearly code")], cell.name
            assert any(later.role == "check" for later in after), cell.name
            assert any(later.text.startswith("**Look.**") for later in after), cell.name


@pytest.mark.parametrize("lab", SOURCES)
def test_at_most_a_screen_between_two_things_to_do(lab: str) -> None:
    for cell in read_source(ROOT / "solutions" / SOURCES[lab]).cells:
        if cell.is_markdown:
            assert len(shown(cell).splitlines()) <= SCREEN, cell.text[:60]


def shown(cell: Cell) -> str:
    """A cell's text as a reader sees it at first: hints folded, no model answer."""
    text = re.sub(r"</summary>.*?</details>", "", cell.text, flags=re.DOTALL)
    return re.sub(r"<!-- BEGIN SOLUTION.*?END SOLUTION -->", "", text, flags=re.DOTALL)


def test_each_mistake_has_advice_and_each_function_two_other_right_answers() -> None:
    for exercise in load_lab(load_course(ROOT), "lab01").exercises:
        assert all(len(mistake.advice.split()) >= 6 for mistake in exercise.mistakes)
        for name in exercise.names:
            others = [v for v in exercise.right_versions if v.of == name or exercise.answers]
            assert len(others) >= 2, f"{exercise.name}: {name}"
