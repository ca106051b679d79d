"""Saved weights are graded by what they achieve on the staff's own data."""

import math

import pytest
import torch
from torch import nn

from attnlab.checking.advice import explain
from attnlab.checking.observation import Missing, NoAnswer, Raised
from attnlab.checking.redact import redacted
from attnlab.checking.weights import MissingWeightError
from gradekit.exercise.trained import Band, ScoreBands, fill


def score(weights, seed):
    if "w" not in weights:
        raise MissingWeightError("no weight w")
    return weights["w"].mean().item() + seed


BANDS = (Band(0.9, 1, 1), Band(0.5, 0.9, 0.4, "Train for longer."))
JUDGE = ScoreBands(score, BANDS, "Is it trained?")


def weights(value):
    return {"w": torch.full((2, 3), value)}


@pytest.mark.parametrize(
    ("value", "share", "words"),
    [(0.95, 1, ""), (0.6, 0.4, "Train for"), (0.1, 0, "trained?"), (math.nan, 0, "trained?")],
)
def test_the_band_decides_on_credit_and_advice(value, share, words):
    assert JUDGE.credit(None, weights(value)) == share
    difference = JUDGE.compare(None, weights(value))
    assert (difference is None) == (share == 1)
    if difference is not None:
        assert words in explain(redacted(difference))


def test_above_the_last_band_there_is_nothing():
    assert JUDGE.credit(None, weights(1.1)) == 0


def test_weights_of_another_model_earn_nothing_and_are_told_so():
    other = {"v": torch.ones(2)}
    assert JUDGE.credit(None, other) == 0
    assert "not those of this model" in explain(JUDGE.compare(None, other))


@pytest.mark.parametrize(
    "seen",
    [Missing("w.safetensors"), Raised("ValueError", "secret"), NoAnswer("late"), None, 3.0, [],
     {"w": "text"}, {"w": torch.ones(2, dtype=torch.int64)}],
)  # fmt: skip
def test_what_is_not_weights_earns_nothing(seen):
    assert JUDGE.credit(None, seen) == 0
    difference = JUDGE.compare(None, seen)
    assert difference is not None
    assert "secret" not in explain(redacted(difference))


def test_a_single_number_among_the_weights_is_read_like_any_other():
    assert JUDGE.credit(None, {**weights(0.95), "scale": torch.tensor(2.0)}) == 1


def test_a_missing_file_is_named():
    said = explain(redacted(JUDGE.compare(None, Missing("dates.safetensors"))))
    assert "no file `dates.safetensors`" in said


def test_a_model_is_filled_from_a_file_with_other_tensors_and_of_a_wrapped_model():
    model = nn.Linear(2, 1)
    weights = {"weight": torch.tensor([[3.0, 4.0]]), "bias": torch.tensor([5.0])}
    others = {"mask": torch.full((2, 2), -math.inf), "steps": torch.tensor(7)}
    fill(model, {f"module.{name}": tensor for name, tensor in {**weights, **others}.items()})
    assert model(torch.ones(2)).item() == 12


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_a_weight_that_is_no_finite_number_or_is_missing_is_refused(number):
    weights = {"weight": torch.tensor([[1.0, number]]), "bias": torch.ones(1)}
    with pytest.raises(MissingWeightError, match="NaN"):
        fill(nn.Linear(2, 1), weights)
    with pytest.raises(MissingWeightError, match="no weight bias"):
        fill(nn.Linear(2, 1), {"weight": torch.ones(1, 2)})
    with pytest.raises(MissingWeightError, match="no weight weight of shape"):
        fill(nn.Linear(2, 1), {"weight": torch.tensor(1.0), "bias": torch.ones(1)})


def test_equal_weights_are_evaluated_once_for_each_seed():
    calls = []

    def counted(weights, seed):
        calls.append(seed)
        return 1.0

    judge = ScoreBands(counted, (Band(1, 1, 1),))
    for seed in (1, 2, 1):
        assert judge.with_seed(seed).compare(None, weights(0.5)) is None
    judge.with_seed(1).compare(None, weights(0.25))
    assert calls == [1, 2, 1]


def test_a_wrapper_and_a_counter_of_steps_change_nothing():
    wrapped = {f"module.{name}": tensor for name, tensor in weights(0.95).items()}
    assert JUDGE.credit(None, {**wrapped, "step": torch.tensor(1500)}) == 1
