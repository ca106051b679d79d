"""Lab 2 as its author wrote it: a script that runs, text that keeps to the form."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gradekit.catalog import LabExercises, load_lab
from gradekit.course import load_course
from gradekit.source import Cell, Source, read_source

ROOT = Path(__file__).resolve().parents[2]
SCREEN = 45  # lines of prose, unfolded, between two things that a student does
POINTS = {
    "pad_batch": 8, "additive_score": 12, "attend": 10, "decoder_cell": 12,
    "teacher_forced_loss": 10, "train_translator": 10, "greedy": 8, "beam_search": 10,
    "test_attend": 6, "errata": 6, "predictions": 4,
}  # fmt: skip


@pytest.fixture(scope="module")
def lab() -> LabExercises:
    return load_lab(load_course(ROOT), "lab02")


@pytest.fixture(scope="module")
def source() -> Source:
    return read_source(ROOT / "solutions" / "lab02_seq2seq.py")


def test_the_source_runs_as_a_script_without_a_display(tmp_path: Path) -> None:
    shutil.copy(ROOT / "autograder" / "exercises" / "lab02" / "dates.safetensors", tmp_path)
    environment = {key: value for key, value in os.environ.items() if key != "DISPLAY"}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "solutions" / "lab02_seq2seq.py")],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240, check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert "Loaded dates.safetensors" in done.stdout  # no test trains it again
    right = re.search(r"([\d.]+)% of 500 new dates are right", done.stdout)
    assert right is not None
    assert float(right[1]) > 98
    answers = re.findall(r"P\d: you say (\S+), your functions say (\S+)", done.stdout)
    assert len(answers) == 4
    assert all(abs(float(said) - float(found)) < 0.05 for said, found in answers)


def test_eleven_exercises_and_a_question_are_worth_100_points(
    lab: LabExercises, source: Source
) -> None:
    (question,) = source.of("free_text")
    assert {exercise.name: exercise.points for exercise in lab.exercises} == POINTS
    assert lab.points + question.points == 100
    visible = sum(c.points for e in lab.exercises for c in e.checks if not c.hidden)
    assert 0.4 < visible / lab.points < 0.6


def test_one_check_runs_on_the_students_own_steps(lab: LabExercises) -> None:
    chained = [c.points for e in lab.exercises for c in e.checks if c.chained]
    assert len(chained) == 1
    assert 2 <= chained[0] <= 3


def test_points_in_the_text_are_those_of_the_checks(source: Source) -> None:
    points = 0
    for cell in source.cells:
        if found := re.search(r"^\*(\d+) points?,", cell.text, re.MULTILINE):
            points = int(found[1])
        elif cell.role == "exercise":
            assert points == POINTS[cell.name], cell.name


def test_every_function_has_its_why_predict_hints_check_and_look(source: Source) -> None:
    for place, cell in enumerate(source.cells):
        if cell.role == "exercise" and cell.text.startswith("from attnlab"):
            before, after = source.cells[place - 1], source.cells[place + 1 : place + 4]
            assert "**Predict.**" in before.text, cell.name
            hints = re.findall(r"<summary>Hint (\d): ([a-z ]+)</summary>", before.text)
            assert hints == [("1", "a question"), ("2", "a plan"), ("3", "nearly code")], cell.name
            assert any(later.role == "check" for later in after), cell.name
            assert any(later.text.startswith("**Look.**") for later in after), cell.name


def test_at_most_a_screen_between_two_things_to_do(source: Source) -> None:
    for cell in source.cells:
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
        advice = [mistake.advice for mistake in exercise.mistakes]
        assert len(set(advice)) == len(advice), exercise.name
        for name in exercise.names:
            others = [v for v in exercise.right_versions if v.of == name or exercise.answers]
            assert len(others) >= 2, f"{exercise.name}: {name}"
