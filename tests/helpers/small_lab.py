"""Three small exercises of a lab with visible checks, for tests of the student's side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from attnlab.checking.draw import Draw
from attnlab.checking.judges import Close
from attnlab.checking.lab import Lab, observe
from attnlab.checking.verdict import KnownMistake, PreparedCheck
from attnlab.checking.visible import (
    NotRunHere,
    Step,
    VisibleCheck,
    VisibleExercise,
    define,
    write,
)

SEED = 7

SHAPE = """\
def shape(lab, draw):
    return list(lab.softmax(draw.normal(2, 3)).shape)
"""
ROWS = """\
def rows(lab, draw):
    return lab.softmax(draw.normal(3, 5))
"""
LARGE = """\
def large(lab, draw):
    return {"large": lab.softmax(draw.normal(2, 4, 6) + 1e4 * draw.integers(0, 2, 2, 4, 1))}
"""
CHECKS = {
    "shape": (SHAPE, "Returns the shape of its input.", 1.0),
    "rows": (ROWS, "Sums to one along the last axis.", 3.0),
    "large": (LARGE, "Stays finite for scores in the thousands.", 2.5),
}


def right(x: Tensor, dim: int = -1) -> Tensor:
    exp = (x - x.amax(dim, keepdim=True)).exp()
    return exp / exp.sum(dim, keepdim=True)


def no_max(x: Tensor, dim: int = -1) -> Tensor:
    exp = x.exp()
    return exp / exp.sum(dim, keepdim=True)


def wrong_axis(x: Tensor, dim: int = -1) -> Tensor:
    return right(x, 0)


MISTAKES = (
    KnownMistake("no_max", "Exponentials overflow. What can you subtract first?"),
    KnownMistake("wrong_axis", "Which of your calls does not use `dim`?"),
)


def run(name: str, function: Callable[..., Any]) -> Any:
    """The observation of the check `name` on `function`."""
    return observe(define(CHECKS[name][0], name), Lab({"softmax": function}), Draw(SEED))


def prepared(name: str) -> PreparedCheck:
    _, title, points = CHECKS[name]
    mistakes = {"no_max": run(name, no_max), "wrong_axis": run(name, wrong_axis)}
    return PreparedCheck(name, title, points, False, Close(), run(name, right), mistakes)


def exercise(name: str = "softmax") -> VisibleExercise:
    checks = tuple(
        VisibleCheck(prepared(check), source, SEED) for check, (source, _, _) in CHECKS.items()
    )
    return VisibleExercise(
        name,
        "softmax: scores become probabilities",
        12.0,
        5.5,
        checks,
        MISTAKES,
        ("torch.softmax", "torch.Tensor.softmax"),
        (NotRunHere("Leaves its input unchanged."), NotRunHere("Fits your own mask.", True)),
        names=("softmax",),
        step=Step("1.1", "Softmax", 40),
        kinds=("function",),
    )


AVERAGE = """\
def average(lab, draw):
    return lab.average(draw.normal(3, 5))
"""


def average(x: Tensor) -> Tensor:
    """A second step, which runs on the notebook's softmax."""
    return right(x) @ x.T


def by_columns(x: Tensor) -> Tensor:
    """A known mistake in the second step: the softmax runs down the columns."""
    return right(x, 0) @ x.T


def second_exercise() -> VisibleExercise:
    """The step ``average``, which uses softmax."""
    probe = define(AVERAGE, "average")
    expected, mistaken = (
        observe(probe, Lab({"average": version}), Draw(SEED)) for version in (average, by_columns)
    )
    asked = PreparedCheck(
        "average", "Is the mean of all rows.", 2.0, False, Close(), expected,
        {"by_columns": mistaken},
    )  # fmt: skip
    check = VisibleCheck(asked, AVERAGE, SEED)
    return VisibleExercise(
        "average", "average: a mean of rows", 2.0, 0.0, (check,),
        (KnownMistake("by_columns", "Your softmax runs down the columns. What is a row?"),),
        names=("average",), uses=("softmax",), step=Step("1.2", "Average", 20), kinds=("function",),
    )  # fmt: skip


def third_exercise() -> VisibleExercise:
    """The step ``twice``, which uses average and has its numbers."""
    second = second_exercise()
    (check,) = second.checks
    asked = replace(check, source=AVERAGE.replace("lab.average", "lab.twice"))
    return replace(
        second, name="twice", title="twice: both steps", checks=(asked,), mistakes=(),
        names=("twice",), uses=("average",), step=Step("1.3", "Twice", 20),
    )  # fmt: skip


def write_checks(folder: Path) -> Path:
    path = folder / "checks.safetensors"
    write(path, "lab01", [exercise(), second_exercise()])
    return path


def same(left: Any, right: Any) -> bool:
    """Whether two observations are equal, including NaN and dtypes."""
    if isinstance(left, Tensor) and isinstance(right, Tensor):
        return (
            left.dtype == right.dtype
            and left.shape == right.shape
            and bool(
                torch.isclose(
                    left.to(torch.float64), right.to(torch.float64), rtol=0, atol=0, equal_nan=True
                ).all()
            )
        )
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    if isinstance(left, float) and isinstance(right, float):
        return left == right or (left != left and right != right)
    return type(left) is type(right) and bool(left == right)
