"""Wrong weights are made from right ones, which stay as they are."""

from __future__ import annotations

import pytest
import torch

from gradekit.exercise.wrong_weights import all_nan, of_another_model, with_noise

RIGHT = {"a": torch.zeros(200, 50), "b": torch.ones(7)}


@pytest.mark.parametrize("wrong", [lambda: with_noise(RIGHT, 0.1), lambda: all_nan(RIGHT)])
def test_names_and_shapes_stay(wrong):
    found = wrong()
    assert {name: tensor.shape for name, tensor in found.items()} == {
        name: tensor.shape for name, tensor in RIGHT.items()
    }
    assert not RIGHT["a"].any()


def test_the_noise_has_its_deviation_and_is_the_same_each_time():
    first, second = with_noise(RIGHT, 0.1), with_noise(RIGHT, 0.1)
    assert first["a"].std().item() == pytest.approx(0.1, rel=0.05)
    assert all(torch.equal(first[name], second[name]) for name in RIGHT)


def test_every_number_is_nan():
    assert all(tensor.isnan().all() for tensor in all_nan(RIGHT).values())


def test_another_model_has_other_names():
    assert not set(of_another_model()) & set(RIGHT)
