"""Predictions and errata are read whatever types their numbers have."""

import pytest
import torch

from attnlab.checking.answers import answers, entries, forms, kind, numbers, plain, right_number
from attnlab.checking.lab import Lab

LAB = Lab(
    {
        "predictions": {"P1": torch.tensor([3.0]), "P2": [1, 2], "P3": "no"},
        "errata": {"N1": (0.5, torch.tensor(0.25), "the slide adds a row twice"), "N2": "a typo"},
    }
)


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (3, 3.0),
        (torch.tensor([[3.0]]), 3.0),
        ((1, 2), [1.0, 2.0]),
        (torch.tensor([True, False]), [1.0, 0.0]),
        ("3", "3"),
    ],
)
def test_numbers_of_any_type_become_floats(value, read):
    assert plain(value) == read


@pytest.mark.parametrize("value", [object(), [1, "2"], None])
def test_other_values_are_errors(value):
    with pytest.raises((TypeError, ValueError, RuntimeError)):
        plain(value)


def test_a_missing_prediction_is_left_out():
    assert answers(LAB, "P1", "P3", "P9") == {"P1": 3.0, "P3": "no"}


def test_the_sort_of_an_answer_in_words():
    assert [kind(value) for value in (1.0, [1.0, 2.0], "no")] == ["one number", "2 numbers", "text"]


def test_parts_of_the_errata():
    assert entries(LAB, 0, "N1", "N2", "N3") == {"N1": 0.5, "N2": "not there"}
    assert right_number(LAB, "N1") == {"N1": 0.25}
    assert numbers(LAB, "N1") == {"N1": [0.5, 0.25]}
    assert numbers(LAB, "N2") == {"N2": []}


def test_the_form_of_the_errata():
    assert forms(LAB, "N1", "N2", "N3") == {
        "N1": {"parts": 3, "numbers": [True, True], "words enough": True},
        "N2": {"parts": 0, "numbers": [], "words enough": False},
    }
