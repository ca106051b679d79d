"""Lab 4 as its authors wrote it: a script that runs, text that keeps to the form, honest bands."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gradekit.catalog import LabExercises, load_lab
from gradekit.course import load_course
from gradekit.outcome import Outcome
from gradekit.source import Cell, read_source

ROOT = Path(__file__).resolve().parents[2]
EXERCISES = ROOT / "autograder" / "exercises" / "lab04"
SOURCE = ROOT / "solutions" / "lab04_multihead.py"
SCREEN = 45  # lines of prose, unfolded, between two things that a student does
BANDS = json.loads((EXERCISES / "retrieval.bands.json").read_text())
ORDER = (
    "split_heads", "multi_head_attention", "mha_param_shapes", "fuse_qkv", "ablate_head",
    "retrieval", "test_multi_head", "errata", "predictions",
)


@pytest.fixture(scope="module")
def lab() -> LabExercises:
    return load_lab(load_course(ROOT), "lab04")


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
    assert done.stdout.count("Loaded retrieval_") == 2
    assert "MultiHeadAttention passes your test" in done.stdout
    assert "MasksLikeTorch is caught" in done.stdout


def test_its_exercises_and_its_question_are_worth_100_points_together(lab: LabExercises) -> None:
    (question,) = read_source(SOURCE).of("free_text")
    assert tuple(exercise.name for exercise in lab.exercises) == ORDER
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
        if cell.role == "exercise" and cell.name not in ("errata", "predictions"):
            before, after = cells[place - 1], cells[place + 1 : place + 5]
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


def test_the_text_names_as_many_versions_as_the_students_test_meets(lab: LabExercises) -> None:
    text = "\n".join(cell.text for cell in read_source(SOURCE).cells if cell.is_markdown)
    assert "thirty wrong versions of 4.2 and about ten right ones" in text
    (check,) = (c for c in lab["test_multi_head"].checks if c.suspects_of)
    assert len(check.suspects) == 30
    assert 8 <= 1 + len(lab["multi_head_attention"].right_versions) <= 12


def test_the_bands_are_the_measured_numbers(lab: LabExercises) -> None:
    two, one = (c.judge for c in lab["retrieval"].checks if isinstance(c.judge, Outcome))
    measured = {name: entry["seeds"] for name, entry in BANDS.items()}
    assert all(len(seeds) >= 10 for seeds in measured.values())
    both, each = BANDS["retrieval_2_heads.safetensors"], BANDS["retrieval_1_head.safetensors"]
    assert two.bands[0].low <= both["both"]["mean - 4 sd"]
    assert one.bands[0].low <= each["each"]["mean - 4 sd"]
    assert each["each"]["mean + 4 sd"] <= one.bands[0].high
    assert all(row["both"] < 0.13 for row in measured["retrieval_1_head.safetensors"])
    assert all(row["cpu_seconds"] < 20 for seeds in measured.values() for row in seeds)


@pytest.mark.parametrize("name", BANDS)
def test_the_references_weights_are_where_the_bands_say(name: str, lab: LabExercises) -> None:
    judge = {c.name: c.judge for c in lab["retrieval"].checks}[
        "two_heads_solve_it" if "2" in name else "one_head_cannot"
    ]
    assert isinstance(judge, Outcome)
    assert all(judge.with_seed(s).credit(None, dict(lab.reference[name])) == 1 for s in range(3))
