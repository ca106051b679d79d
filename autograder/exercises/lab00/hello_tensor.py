"""hello_tensor: the kernel runs, and torch is there."""

from __future__ import annotations

import torch

from attnlab.warmup import hello_tensor
from gradekit.exercise import Exercise

exercise = Exercise(hello_tensor)


@exercise.check(points=1)
def numbers_in_order(lab, draw):
    """Holds 0 to 23 in reading order, as (2, 3, 4)."""
    return lab.hello_tensor()


@exercise.check(points=1, hidden=True)
def dtype_and_a_new_one_each_time(lab, draw):
    """Is float32, and a new tensor at each call."""
    first = lab.hello_tensor()
    dtype = str(first.dtype).removeprefix("torch.")
    first.zero_()
    return {"dtype": dtype, "a second call": lab.hello_tensor()}


@exercise.mistake(
    "Your numbers are whole numbers (int64); float32 was asked for. Which argument of `arange` "
    "sets the dtype?"
)
def integers():
    return torch.arange(24).reshape(2, 3, 4)


@exercise.mistake(
    "Your tensor still has one axis. Which method gives the same numbers another shape?"
)
def one_axis():
    return torch.arange(24, dtype=torch.float32)


@exercise.mistake("Counting starts at 0 here, as everywhere in Python.")
def from_one():
    return torch.arange(1.0, 25.0).reshape(2, 3, 4)


@exercise.mistake(
    "The shape is right, but the numbers do not run along the rows. In (2, 3, 4) the last axis is "
    "the one that counts fastest."
)
def columns_first():
    return torch.arange(24, dtype=torch.float32).reshape(4, 3, 2).permute(2, 1, 0)


@exercise.mistake("The axes stand in another order: two pages, of three rows, by four columns.")
def axes_in_another_order():
    return torch.arange(24, dtype=torch.float32).reshape(4, 3, 2)


@exercise.mistake("These are nested lists. What makes a tensor of them?")
def nested_lists():
    return torch.arange(24, dtype=torch.float32).reshape(2, 3, 4).tolist()


@exercise.also_right
def by_view():
    return torch.tensor(range(24)).float().view(2, 3, 4)


@exercise.also_right
def by_counting():
    pages = [[[float(12 * b + 4 * r + c) for c in range(4)] for r in range(3)] for b in range(2)]
    return torch.tensor(pages)
