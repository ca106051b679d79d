"""Lab 3 as its authors wrote it: a script that runs, text that keeps to the form."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from attnlab.attention import scaled_dot_product_attention
from gradekit.catalog import load_lab
from gradekit.course import load_course
from gradekit.source import Cell, read_source

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "solutions" / "lab03_attention.py"
SCREEN = 45  # lines of prose, unfolded, between two things that a student does
ORDER = (
    "qkv", "attention_loop", "scaled_dot_product_attention", "score_variance", "relevance_matrix",
    "cost", "test_attention", "predictions", "errata",
)


def test_the_source_runs_as_a_script_without_a_display(tmp_path: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "DISPLAY"}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(SOURCE)],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert "scaled_dot_product_attention passes your test" in done.stdout
    assert "formula is caught" in done.stdout


def test_nine_exercises_and_a_question_are_worth_100_points_together() -> None:
    lab = load_lab(load_course(ROOT), "lab03")
    (question,) = read_source(SOURCE).of("free_text")
    assert tuple(exercise.name for exercise in lab.exercises) == ORDER
    assert lab.points + question.points == 100
    visible = sum(c.points for e in lab.exercises for c in e.checks if not c.hidden)
    assert 0.4 < visible / lab.points < 0.6
    assert sum(c.chained for e in lab.exercises for c in e.checks) == 1


def test_points_in_the_text_are_those_of_the_checks() -> None:
    exercises = load_lab(load_course(ROOT), "lab03")
    points = 0
    for cell in read_source(SOURCE).cells:
        if found := re.search(r"^\*(\d+) points?,", cell.text, re.MULTILINE):
            points = int(found[1])
        elif cell.role == "exercise":
            assert points == exercises[cell.name].points, cell.name


def test_every_function_has_its_why_predict_hints_check_and_look() -> None:
    cells = read_source(SOURCE).cells
    for place, cell in enumerate(cells):
        if cell.role == "exercise" and cell.text.startswith("from attnlab"):
            before, after = cells[place - 1], cells[place + 1 : place + 4]
            assert "**Predict.**" in before.text, cell.name
            hints = re.findall(r"<summary>Hint (\d): ([a-z ]+)</summary>", before.text)
            assert hints == [("1", "a question"), ("2", "a plan"), ("3", "nearly code")], cell.name
            assert any(later.role == "check" for later in after), cell.name
            assert any(later.text.startswith("**Look.**") for later in after), cell.name


def test_at_most_a_screen_between_two_things_to_do() -> None:
    for cell in read_source(SOURCE).cells:
        if cell.is_markdown:
            assert len(shown(cell).splitlines()) <= SCREEN, cell.text[:60]


def test_the_five_items_of_the_errata_are_explained_in_the_text() -> None:
    text = "\n".join(cell.text for cell in read_source(SOURCE).cells if cell.is_markdown)
    for name in ("C4", "C9", "G5", "N3", "W1"):
        item = re.search(rf"- \*\*{name}\*\*(.*?)(?=\n- \*\*|\Z)", text, re.DOTALL)
        assert item, name
        assert "*Slide*" in item[1], name
        assert "*Right*" in item[1], name


def test_each_mistake_has_advice_and_each_function_two_other_right_answers() -> None:
    for exercise in load_lab(load_course(ROOT), "lab03").exercises:
        assert all(len(mistake.advice.split()) >= 6 for mistake in exercise.mistakes)
        for name in exercise.names:
            others = [v for v in exercise.right_versions if v.of == name or exercise.answers]
            assert len(others) >= 2, f"{exercise.name}: {name}"


def test_numbers_of_the_errata_hunt_hold() -> None:
    queries = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    keys = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    _, weights = scaled_dot_product_attention(queries, keys, keys)
    assert weights[0, 0] == pytest.approx(0.401112, abs=1e-6)
    across = torch.softmax(keys @ queries.T / math.sqrt(2), -1)
    assert across[0, 0] == pytest.approx(0.6698, abs=1e-4)
    assert math.sqrt(64) / math.sqrt(512) == pytest.approx(0.35, abs=5e-3)


def shown(cell: Cell) -> str:
    """A cell's text as a reader sees it at first: hints folded, no model answer."""
    text = re.sub(r"</summary>.*?</details>", "", cell.text, flags=re.DOTALL)
    return re.sub(r"<!-- BEGIN SOLUTION.*?END SOLUTION -->", "", text, flags=re.DOTALL)
