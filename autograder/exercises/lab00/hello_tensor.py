"""hello_tensor: the kernel runs, and torch is installed."""

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


exercise.promises(
    {
        "The whole numbers from 0 to 23 in reading order": "numbers_in_order",
        "as two pages of three rows and four columns": "numbers_in_order",
        "(2, 3, 4), float32": "numbers_in_order dtype_and_a_new_one_each_time",
        "entry [0, 0, 0] is 0, [0, 0, 1] is 1, and [1, 2, 3] is 23": "numbers_in_order",
        "Each call returns a new tensor": "dtype_and_a_new_one_each_time",
    },
)


@exercise.also_right
def by_reshape():
    return torch.arange(24, dtype=torch.float32).reshape(2, 3, 4)


wrong = exercise.edits(by_reshape)

wrong(
    "integers",
    ", dtype=torch.float32",
    "",
    "Your numbers are whole numbers (int64), but the task asks for float32. Which argument of "
    "`arange` sets the dtype?",
)
wrong(
    "one_axis",
    ".reshape(2, 3, 4)",
    "",
    "Your tensor still has one axis. Which method gives the same numbers another shape?",
)
wrong(
    "from_one",
    "arange(24",
    "arange(1, 25",
    "Your numbers start at 1. Where does counting start in Python?",
)
wrong(
    "columns_first",
    "reshape(2, 3, 4)",
    "reshape(4, 3, 2).permute(2, 1, 0)",
    "The shape is right, but the numbers do not run along the rows. In (2, 3, 4), which axis "
    "changes fastest in reading order?",
)
wrong(
    "axes_in_another_order",
    "(2, 3, 4)",
    "(4, 3, 2)",
    "Your axes are in another order than the task's: two pages of three rows by four columns. "
    "Which axis comes first?",
)
wrong(
    "nested_lists",
    ".reshape(2, 3, 4)",
    ".reshape(2, 3, 4).tolist()",
    "You return nested lists. What turns them into a tensor?",
)


@exercise.mistake(
    "Every call returns the same tensor, so a change of one shows in all. Where is it made, inside "
    "the function or before?"
)
def one_for_all_calls(kept=torch.arange(24, dtype=torch.float32).reshape(2, 3, 4)):  # noqa: B008
    return kept


@exercise.also_right
def by_view():
    return torch.tensor(range(24)).float().view(2, 3, 4)


@exercise.also_right
def by_counting():
    pages = [[[float(12 * b + 4 * r + c) for c in range(4)] for r in range(3)] for b in range(2)]
    return torch.tensor(pages)
