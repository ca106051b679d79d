"""Values of checks as text: type and shape, few lines, and as many digits as asked for."""

import pytest
import torch
from torch import nn

from attnlab.checking.observation import Missing, NoAnswer, Opaque, Raised
from gradekit.grading.value_text import MOST_LINES, WIDTH, value_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (torch.tensor([[0.5, 2.0]]), "float32 of shape (1, 2)\n[[0.5 2. ]]"),
        (torch.tensor(3), "3 (int64)"),
        (torch.ones(2, dtype=torch.bfloat16), "bfloat16 of shape (2,)\n[1. 1.]"),
        (torch.tensor([1 + 2j]).conj(), "complex64 of shape (1,)\n[1.-2.j]"),
        (torch.ones(2, requires_grad=True), "float32 of shape (2,)\n[1. 1.]"),
        (torch.zeros(0, 3), "float32 of shape (0, 3)\n[]"),
        (torch.eye(2).to_sparse(), "a torch.sparse_coo tensor of shape (2, 2)"),
        (0.25, "0.25"),
        (None, "None"),
        ("a word", "'a word'"),
        ([2, 3], "[2, 3]"),
        ([torch.tensor(1), None], "0: 1 (int64)\n1: None"),
        ({"a": torch.tensor([1]), "b": 2}, "a: int64 of shape (1,)\n  [1]\nb: 2"),
        ({}, "nothing"),
        (Raised("ValueError", "too long"), "ValueError: too long"),
        (Raised("ValueError"), "ValueError"),
        (Missing("softmax"), "no softmax"),
        (NoAnswer("it took 20 s"), "no answer: it took 20 s"),
        (Opaque("set"), "an object of type set"),
        (nn.Linear(2, 3), "a Linear with 9 parameters"),
        (torch.softmax, "the function softmax"),
    ],
)
def test_each_kind_of_value(value, text):
    assert value_text(value) == text


def test_large_values_are_shortened():
    lines = value_text(torch.randn(40, 6, 2)).splitlines()
    assert len(lines) == MOST_LINES + 1
    assert lines[-1].startswith("… and ")
    assert all(len(line) <= WIDTH for line in value_text(torch.randn(9, 9, 9)).splitlines())
    assert value_text({str(n): n for n in range(10)}).endswith("… and 2 more")
    assert len(value_text("x" * 5000)) < 1000


def test_more_digits_show_a_small_difference():
    one, other = torch.tensor([0.5]).double(), torch.tensor([0.5]).double() + 1e-10
    assert value_text(one) == value_text(other)
    assert value_text(one, 16) != value_text(other, 16)
