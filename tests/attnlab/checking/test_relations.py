"""Relations between wrong numbers and the right ones."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from attnlab.checking.relations import relation

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
        (RIGHT.flip(1), "other places"),
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
        torch.zeros_like(RIGHT),
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
