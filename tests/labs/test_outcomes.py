"""The bands that trained models are graded by are those that were measured, seed by seed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from safetensors.torch import load_file

from attnlab.data.markov import course_source
from gradekit.exercise.loader import LabExercises
from gradekit.exercise.trained import ScoreBands
from tests.helpers.our_labs import COURSE, LABS

TRAINS = {
    "lab02": "train_translator",
    "lab04": "retrieval",
    "lab05": "entropy_floor",
    "lab07": "train_transformer",
}


@pytest.fixture(scope="module")
def labs() -> dict[str, LabExercises]:
    return {lab: LABS[lab] for lab in TRAINS}


def measured(lab: str) -> dict[str, Any]:
    """What the script beside the exercise wrote down."""
    path = COURSE.exercises(lab) / TRAINS[lab] / "bands.json"
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def judges(labs: dict[str, LabExercises], lab: str) -> dict[str, ScoreBands]:
    """The judges of the checks that look at saved weights, by the check's name."""
    checks = labs[lab][TRAINS[lab]].checks
    return {check.name: check.judge for check in checks if isinstance(check.judge, ScoreBands)}


@pytest.mark.parametrize("lab", TRAINS)
def test_the_script_that_measured_is_there(lab: str) -> None:
    assert (COURSE.exercises(lab) / TRAINS[lab] / "measure.py").is_file()


def test_one_head_fails_and_two_solve_it(labs: dict[str, LabExercises]) -> None:
    two, one = judges(labs, "lab04").values()
    bands = measured("lab04")
    both, each = bands["retrieval_2_heads.safetensors"], bands["retrieval_1_head.safetensors"]
    assert two.bands[0].low <= both["both"]["mean - 4 sd"]
    assert one.bands[0].low <= each["each"]["mean - 4 sd"]
    assert each["each"]["mean + 4 sd"] <= one.bands[0].high
    for entry in (both, each):
        assert len(entry["seeds"]) >= 10
        assert all(row["cpu_seconds"] < 20 for row in entry["seeds"])
    assert all(row["both"] < 0.13 for row in each["seeds"])


def test_a_loss_below_the_floor_is_a_leak(labs: dict[str, LabExercises]) -> None:
    found, bands = judges(labs, "lab05"), measured("lab05")
    for check, name in (
        ("model_of_the_past", "past"),
        ("model_one_ahead", "ahead"),
        ("model_without_a_mask", "all"),
    ):
        runs, full = bands[name]["runs"], found[check].bands[0]
        assert len(runs) >= 10
        assert full.low <= min(run["loss"] for run in runs)
        assert bands[name]["mean_plus_4_sd"] <= full.high, "an honest training earns everything"
        assert sum(run["cpu_seconds"] for run in runs) / len(runs) < 15
    assert bands["floor"] == pytest.approx(course_source().entropy_rate)
    past = found["model_of_the_past"].bands
    assert past[0].low == pytest.approx(bands["floor"] - 0.05, abs=1e-3)
    assert past[0].high <= past[1].high <= bands["floor"] + 0.251


def test_three_transformers_do_better_than_their_bands_ask(labs: dict[str, LabExercises]) -> None:
    bands = measured("lab07")
    for judge, (task, seconds) in zip(
        judges(labs, "lab07").values(),
        {"copy": 25, "dates": 60, "numbers": 40}.items(),
        strict=True,
    ):
        assert judge.bands[0].low <= bands[task]["mean_minus_4_sd"]
        assert len(bands[task]["runs"]) >= 10
        assert sum(run["cpu_seconds"] for run in bands[task]["runs"]) < seconds * len(
            bands[task]["runs"]
        )


def test_a_transformer_without_a_mask_or_positions_is_told_so(
    labs: dict[str, LabExercises],
) -> None:
    folder = COURSE.exercises("lab07") / TRAINS["lab07"]
    copied = judges(labs, "lab07")["sequences_copied"]
    for name, words in (("without_a_mask", "later symbols"), ("without_positions", "positions")):
        found = copied.compare(None, load_file(folder / f"{name}.safetensors"))
        assert found is not None
        assert words in found.detail
    wrong = json.loads((folder / "wrong_models.json").read_text("utf-8"))
    assert all(
        run["exact_match"] == 0 and run["last_loss"] < 0.01 for run in wrong["without_a_mask"]
    )
    assert all(run["last_loss"] > 1 for run in wrong["without_positions"])


@pytest.mark.parametrize("lab", TRAINS)
def test_the_references_own_weights_earn_everything(
    lab: str, labs: dict[str, LabExercises]
) -> None:
    exercise = labs[lab][TRAINS[lab]]
    for check in exercise.checks:
        if isinstance(check.judge, ScoreBands):
            weights = [labs[lab].reference[name] for name in exercise.saves]
            for seed in range(3):
                judge = check.judge.with_seed(seed)
                assert any(judge.credit(None, dict(held)) == 1 for held in weights), check.name
