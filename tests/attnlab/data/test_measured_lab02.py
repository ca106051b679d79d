"""The recorded numbers of lab 2 are those that were measured, and show what the lab says."""

from __future__ import annotations

import importlib.util
import json

import pytest
import torch

from attnlab.data import measured_lab02
from demo.course_folder import REPOSITORY

MEASURED = REPOSITORY / "autograder" / "exercises" / "lab02" / "train_translator"


def test_the_recorded_shares_are_those_that_were_measured() -> None:
    measured = json.loads((MEASURED / "without_attention.json").read_text("utf-8"))
    assert measured["trained_on"] == [measured_lab02.SHORTEST, measured_lab02.LONGEST]
    assert measured["lengths"] == list(measured_lab02.LENGTHS)
    assert list(measured["steps"].values()) == [1500, 1500, 4 * 1500]
    assert [len(measured[name]) for name in measured if "attention" in name] == [5, 5, 5], "runs"
    for ours, theirs in (
        ("with attention", "with attention"),
        ("without", "without attention"),
        ("without, 4 times as long", "without attention, longer"),
    ):
        shares = torch.tensor([run["right"] for run in measured[theirs]], dtype=torch.float64)
        assert torch.equal(measured_lab02.copied()[ours], shares)


def test_a_summary_learns_more_slowly_than_attention_and_can_hold_16_digits() -> None:
    within = torch.tensor(measured_lab02.LENGTHS) <= measured_lab02.LONGEST
    shares = {name: runs.mean(0) for name, runs in measured_lab02.copied().items()}
    assert shares["with attention"][within].min() > 0.99
    without, longer = shares["without"], shares["without, 4 times as long"]
    assert without[5:8].tolist() == pytest.approx([0.41, 0.16, 0.03], abs=0.02), "12, 14, 16 digits"
    assert measured_lab02.LENGTHS[5] == 12
    assert float(longer[5]) > 0.95, "nearly all of 12 digits"
    assert float(longer[7]) == pytest.approx(2 / 3, abs=0.05), "two of three at 16"
    beyond = shares["with attention"][9:11]
    assert beyond.tolist() == pytest.approx([0.56, 0.04], abs=0.03), "20 and 22 digits"


def test_a_date_is_learned_in_the_order_that_the_lab_tells() -> None:
    measured = json.loads((MEASURED / "learning_order.json").read_text("utf-8"))
    order = measured_lab02.learning_order()
    assert order.tolist() == list(measured.values())
    assert [int(step) for step in measured] == [20 * row for row in range(21)]
    year, month, day = [2, 3], [5, 6], [8, 9]
    known_first = [0, 1, 4, 10]  # the century, the first dash, the end
    at = {step: order[step // measured_lab02.EVERY] for step in (100, 200, 300)}
    assert float(at[100][known_first].max()) < 0.25
    assert float(at[100][year].min()) > 2
    assert float(at[200][year].max()) < 0.1
    assert float(at[200][day].min()) > 0.7
    assert float(at[300][month + day].max()) <= 0.2


@pytest.mark.slow
def test_the_order_of_learning_is_what_the_script_measures() -> None:
    spec = importlib.util.spec_from_file_location("order", MEASURED / "measure_learning_order.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    found = torch.tensor(list(script.measure(100).values()))
    torch.testing.assert_close(
        found.double(), measured_lab02.learning_order()[:6], atol=0.15, rtol=0.1
    )


def test_the_weights_of_each_symbol_sum_to_one_except_for_rounding() -> None:
    weights = measured_lab02.weights_of_a_date()
    assert weights.shape == (len(measured_lab02.ISO) + 1, len(measured_lab02.DATE))
    torch.testing.assert_close(weights.sum(1), torch.ones(11).double(), atol=0.031, rtol=0)
