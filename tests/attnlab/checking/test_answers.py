"""Predictions and errata are read whatever types their numbers have."""

from types import SimpleNamespace

import pytest
import torch

from attnlab.checking.advice import explain
from attnlab.checking.answers import (
    UNASKED,
    answers,
    entries,
    forms,
    kind,
    kinds,
    numbers,
    plain,
    right_number,
    second_and_third,
    slide_numbers,
)
from attnlab.checking.judges import Close
from attnlab.checking.lab import Lab
from attnlab.checking.observation import NO_PART, REASON, SHORT, UNREADABLE
from attnlab.checking.redact import redacted

LAB = Lab(
    {
        "predictions": {"P1": torch.tensor([3.0]), "P2": [1, 2], "P3": "no", "P4": None},
        "errata": {"N1": (0.5, torch.tensor(0.25), "the slide adds a row twice"), "N2": "a typo"},
    }
)


def words(expected, seen):
    return explain(Close().compare(expected, seen))


def words_if_hidden(expected, seen):
    return explain(redacted(Close().compare(expected, seen)))


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


@pytest.mark.parametrize("value", [object(), [1, "2"], [None], 10**400])
def test_other_values_cannot_be_read(value):
    assert plain(value) == kind(plain(value)) == UNREADABLE


def test_a_missing_prediction_and_one_that_is_none_are_left_out():
    assert answers(LAB, "P1", "P3", "P4", "P9") == {"P1": 3.0, "P3": "no"}


def test_the_sort_of_an_answer_in_words():
    assert [kind(value) for value in (1.0, [1.0, 2.0], "no")] == ["one number", "2 numbers", "text"]


def test_a_name_that_is_spelled_in_another_way_is_seen():
    right = {"P1": 1.0, "P2": "no"}
    sorts = {"P1": "one number", "P2": "text"}
    assert kinds(SimpleNamespace(predictions=right), "P1", "P2") == sorts
    assert kinds(SimpleNamespace(predictions=right | {"P3": 2}), "P1", "P2") == sorts
    other = SimpleNamespace(predictions={"P1": 1.0, "p2": "no", 2: "no"})
    assert kinds(other, "P1", "P2") == {"P1": "one number", "p2": UNASKED}
    assert kinds(SimpleNamespace(predictions=[1.0, "no"]), "P1", "P2") == [1.0, "no"]
    item = (0.5, 0.25, "the slide adds a row twice")
    numbered = SimpleNamespace(errata={"N1": item, "N-2": item})
    assert slide_numbers(numbered, "N1", "N2") == {"N1": 0.5, "N-2": UNASKED}
    assert forms(numbered, "N1", "N2").keys() == {"N1", "N-2"}
    assert slide_numbers(numbered, "N1") == {"N1": 0.5}
    assert slide_numbers(SimpleNamespace(errata=[item]), "N1") == [item]


@pytest.mark.parametrize("advise", [words, words_if_hidden])
@pytest.mark.parametrize(
    ("expected", "seen", "sentence"),
    [
        ({"P1": "one number"}, {"P1": "text"}, "P1: text, expected one number."),
        ({"P5": "2 numbers"}, {"P5": "one number"}, "P5: one number, expected 2 numbers."),
        ({"P1": 0.25}, {"P1": UNREADABLE}, "P1: expected a number, got no number."),
        (
            {"N1": 0.3},
            {"N1": NO_PART},
            'N1: expected an item of three parts: (slide, right, "why").',
        ),
        ({"P1": 0.25}, {}, "there is no entry P1."),
        ({"P1": 0.25, "P2": 1.0}, {"P2": 1.0}, "there is no entry P1."),
    ],
)
def test_the_advice_on_an_answer_of_another_form(advise, expected, seen, sentence):
    assert advise(expected, seen) == sentence


def test_parts_of_the_errata():
    assert entries(LAB, 0, "N1", "N2", "N3") == {"N1": 0.5, "N2": NO_PART}
    assert second_and_third(LAB, "N1", "N2", "N3") == {
        "N1": {"right": "one number", "why": REASON},
        "N2": {"right": NO_PART, "why": NO_PART},
    }
    row = Lab({"errata": {"N1": (0.5, torch.ones(4), "short"), "N2": (0.5, "a half", "")}})
    assert second_and_third(row, "N1", "N2") == {
        "N1": {"right": "4 numbers", "why": SHORT},
        "N2": {"right": "text", "why": SHORT},
    }
    assert right_number(LAB, "N1") == {"N1": 0.25}
    assert numbers(LAB, "N1") == {"N1": [0.5, 0.25]}
    assert numbers(LAB, "N2") == {"N2": []}


def test_the_form_of_the_errata():
    assert forms(LAB, "N1", "N2", "N3") == {
        "N1": {"slide": "one number", "right": "one number", "why": REASON},
        "N2": NO_PART,
    }
