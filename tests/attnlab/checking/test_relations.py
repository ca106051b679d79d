"""Relations between wrong numbers and the right ones."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from attnlab.checking.relations import relation, relation_of_two

RIGHT = torch.randn(3, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (-RIGHT, "signs"),
        (RIGHT**2, "squares"),
        (RIGHT.exp(), "exponentials"),
        (RIGHT / math.log(10), "times one and the same factor"),
        (RIGHT - 0.3, "plus one and the same number"),
        (RIGHT * torch.tensor([[2.0], [3.0], [5.0]]), "a factor of its own"),
        (RIGHT.flip(1), "along dimension 1 is reversed"),
        (RIGHT.roll(1, 0), "one place off along dimension 0"),
        (RIGHT.roll(-1, 1), "one place off along dimension 1"),
        (1 - RIGHT, "add up to 1"),
        (RIGHT.mean(0, keepdim=True).expand(3, 4), "the same all along dimension 0"),
        (torch.zeros_like(RIGHT), "All your numbers are the same"),
        (RIGHT.ceil(), "All your numbers are whole"),
        (RIGHT.T.reshape(3, 4), "other places"),
    ],
)
def test_a_relation_that_holds_for_every_number_is_named(seen: Tensor, words: str) -> None:
    assert words in relation(RIGHT, seen)


def test_roots_and_logarithms_of_positive_numbers() -> None:
    assert "roots" in relation(RIGHT.abs(), RIGHT.abs().sqrt())
    assert "logarithms" in relation(RIGHT.abs(), RIGHT.abs().log())


@pytest.mark.parametrize(
    "seen",
    [
        RIGHT + 1e-9,
        RIGHT.where(RIGHT > 0, 2 * RIGHT),  # a part only
        torch.full_like(RIGHT, torch.nan),
        torch.complex(RIGHT, RIGHT),
    ],
)
def test_no_relation_is_named_where_none_is_known(seen: Tensor) -> None:
    assert relation(RIGHT, seen) == ""


def test_two_numbers_show_no_relation() -> None:
    assert relation(RIGHT[0, :2], 3 * RIGHT[0, :2]) == ""


def test_equal_right_numbers_show_no_relation() -> None:
    assert relation(torch.ones(4), torch.full((4,), 2.0)) == ""


def test_sums_along_another_axis() -> None:
    square = RIGHT[:, :3].exp()
    assert "Yours sum to 1 along dimension 0" in relation(square.softmax(1), square.softmax(0))
    assert "do not all sum to 1 along dimension 1" in relation(square.softmax(1), square)
    assert relation(square.softmax(1), square.half().softmax(1) * 1.001) == ""


def test_rows_and_columns_exchanged() -> None:
    square = RIGHT[:, :3]
    assert "Rows and columns" in relation(square, square.T)


def test_zeros_that_are_missing_or_too_many() -> None:
    lower = RIGHT.tril()
    assert "exactly 0 are not" in relation(lower, lower + (lower == 0) * RIGHT.abs())
    assert "Some entries are 0" in relation(lower, lower.tril(-1) + 0 * RIGHT)
    assert relation(lower, lower + RIGHT.tril(-1) ** 2) == ""
    assert "Some entries are 0" in relation(RIGHT, RIGHT * torch.tensor([[1.0], [0.0], [1.0]]))


def test_true_and_false_exchanged() -> None:
    mask = RIGHT > 0
    assert "exchanged throughout" in relation(mask, ~mask)
    assert relation(mask, torch.ones_like(mask)) == ""


@pytest.mark.parametrize(
    ("expected", "seen", "words"),
    [
        (0.25, 25.0, "share or for percent"),
        (40.0, 20.0, "factor of two"),
        (1.5, -1.5, "sign"),
        (0.7, 0.7 / math.log(2), "which base"),
        (17, 18, "off by one"),
        (40.0, 40_000.0, "which unit"),
    ],
)
def test_the_usual_slips_with_one_number(expected: float, seen: float, words: str) -> None:
    assert words in relation_of_two(expected, seen)


@pytest.mark.parametrize(
    ("expected", "seen"),
    [(1, 2), (0.5, 0.8), (0, 3), (3.0, math.inf), (5, 6), (6, 12), (4096, 409_600)],
)
def test_other_numbers_show_no_slip(expected: float, seen: float) -> None:
    assert relation_of_two(expected, seen) == ""
