"""Lab 5 as its authors wrote it: a script that runs, text that keeps to the form, honest bands."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from attnlab.data.markov import course_source
from gradekit.catalog import LabExercises, load_lab
from gradekit.course import load_course
from gradekit.outcome import Outcome
from gradekit.source import Cell, read_source

ROOT = Path(__file__).resolve().parents[2]
EXERCISES = ROOT / "autograder" / "exercises" / "lab05"
SOURCE = ROOT / "solutions" / "lab05_masks.py"
SCREEN = 45  # lines of prose, unfolded, between two things that a student does
BANDS = json.loads((EXERCISES / "entropy_floor.bands.json").read_text())


@pytest.fixture(scope="module")
def lab() -> LabExercises:
    return load_lab(load_course(ROOT), "lab05")


def test_the_source_runs_as_a_script_without_a_display(tmp_path: Path) -> None:
    for file in EXERCISES.glob("*.safetensors"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    environment = {key: value for key, value in os.environ.items() if key != "DISPLAY"}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(SOURCE)],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=200, check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout.count("Loaded markov_") == 3
    assert done.stdout.count("(impossible)") == 2


def test_its_exercises_and_its_question_are_worth_100_points_together(lab: LabExercises) -> None:
    (question,) = read_source(SOURCE).of("free_text")
    assert lab.points + question.points == 100
    visible = sum(c.points for e in lab.exercises for c in e.checks if not c.hidden)
    assert 0.4 < visible / lab.points < 0.6
    assert sum(check.chained for e in lab.exercises for check in e.checks) == 1


def test_points_in_the_text_are_those_of_the_checks(lab: LabExercises) -> None:
    points = 0
    for cell in read_source(SOURCE).cells:
        if found := re.search(r"^\*(\d+) points?,", cell.text, re.MULTILINE):
            points = int(found[1])
        elif cell.role == "exercise":
            assert points == lab[cell.name].points, cell.name


def test_every_function_has_its_why_predict_hints_check_and_look() -> None:
    cells = read_source(SOURCE).cells
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


def test_at_most_a_screen_between_two_things_to_do() -> None:
    for cell in read_source(SOURCE).cells:
        if cell.is_markdown:
            assert len(shown(cell).splitlines()) <= SCREEN, cell.text[:60]


def shown(cell: Cell) -> str:
    """A cell's text as a reader sees it at first: hints folded, no model answer."""
    text = re.sub(r"</summary>.*?</details>", "", cell.text, flags=re.DOTALL)
    return re.sub(r"<!-- BEGIN SOLUTION.*?END SOLUTION -->", "", text, flags=re.DOTALL)


def test_each_mistake_has_advice_and_each_function_two_other_right_answers(
    lab: LabExercises,
) -> None:
    for exercise in lab.exercises:
        assert all(len(mistake.advice.split()) >= 6 for mistake in exercise.mistakes)
        for name in exercise.names:
            others = [v for v in exercise.right_versions if v.of == name or exercise.answers]
            assert len(others) >= 2, f"{exercise.name}: {name}"


def test_the_bands_of_the_floor_are_those_that_were_measured(lab: LabExercises) -> None:
    judges = {
        check.name: check.judge
        for check in lab["entropy_floor"].checks
        if isinstance(check.judge, Outcome)
    }
    for check, name in (
        ("model_of_the_past", "past"),
        ("model_one_ahead", "ahead"),
        ("model_without_a_mask", "all"),
    ):
        measured = BANDS[name]
        full = judges[check].bands[0]
        assert len(measured["runs"]) >= 10
        assert full.low <= min(run["loss"] for run in measured["runs"])
        assert measured["mean_plus_4_sd"] <= full.high, "an honest training earns everything"
        assert sum(run["cpu_seconds"] for run in measured["runs"]) / len(measured["runs"]) < 15
    assert BANDS["floor"] == pytest.approx(course_source().entropy_rate)
    past = judges["model_of_the_past"].bands
    assert past[0].low == pytest.approx(BANDS["floor"] - 0.05, abs=1e-3)
    assert past[0].high <= past[1].high <= BANDS["floor"] + 0.251
