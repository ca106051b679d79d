"""The recorded numbers of lab 2 are those that were measured, and show what the lab says."""

from __future__ import annotations

import json

import torch

from attnlab.data import measured_lab02
from demo.course_folder import REPOSITORY

MEASURED = REPOSITORY / "autograder" / "exercises" / "lab02" / "train_translator"


def test_the_recorded_shares_are_those_that_were_measured() -> None:
    measured = json.loads((MEASURED / "without_attention.json").read_text("utf-8"))
    assert measured["trained_on"] == [measured_lab02.SHORTEST, measured_lab02.LONGEST]
    assert measured["lengths"] == list(measured_lab02.LENGTHS)
    for ours, theirs in (("with attention", "with attention"), ("without", "without attention")):
        shares = torch.tensor([run["right"] for run in measured[theirs]], dtype=torch.float64)
        assert torch.equal(measured_lab02.copied()[ours], shares)


def test_attention_copies_long_strings_and_a_summary_does_not() -> None:
    within = torch.tensor(measured_lab02.LENGTHS) <= measured_lab02.LONGEST
    shares = {name: runs.mean(0) for name, runs in measured_lab02.copied().items()}
    assert shares["with attention"][within].min() > 0.99
    assert shares["without"][within][-1] < 0.1


def test_the_weights_of_each_symbol_sum_to_one_except_for_rounding() -> None:
    weights = measured_lab02.weights_of_a_date()
    assert weights.shape == (len(measured_lab02.ISO) + 1, len(measured_lab02.DATE))
    torch.testing.assert_close(weights.sum(1), torch.ones(11).double(), atol=0.031, rtol=0)
