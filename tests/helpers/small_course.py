"""A course of one tiny lab in a temporary folder, with a library of its own."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gradekit.course import Course, load_course

PROJECT = Path(__file__).resolve().parents[2]

COURSE = """\
[course]
name = "A small course"
timezone = "Europe/Zurich"

[[lab]]
id = "lab01"
title = "Doubling"
release = 2026-09-14T08:00:00
due = 2026-09-20T23:59:00
"""

LIBRARY = '''\
from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable

FACTOR = 2


def double(x: Tensor) -> Tensor:  # noqa: D401
    """Twice `x`, any shape."""
    return FACTOR * x


def total(x: Tensor, apply: Callable[[Tensor], Tensor] | None = None) -> Tensor:
    """The sum of what `double` gives."""
    doubled = double(x)
    # blank: add up all entries
    secret_sum = doubled.sum()
    # end blank
    return secret_sum


class Scale(torch.nn.Module):
    """Multiplies by a parameter."""

    def __init__(self, size: int) -> None:
        """Start at one half of tau."""
        super().__init__()
        self.factor = torch.nn.Parameter(torch.full((size,), math.tau / 2))

    def forward(self, x: Tensor) -> Tensor:
        return self.factor * x
'''

SOURCE = '''\
"""A note to staff that no notebook shows."""
# %% [markdown]
# # {{title}}
# Due {{due}}, {{points}} points. A formula: $e^{{x}}$.

# %% tags=["setup"]
import torch
from torch import Tensor

from attnlab import check

# %% [markdown]
# ## 1. Twice as much
# Write it.

# %% exercise="double"
from smallnet.steps import double

# %%
check("double")

# %%
print(double(torch.ones(2)))

# %% [markdown]
# ## 2. The sum

# %% exercise="total"
from smallnet.steps import total

# %%
check("total")

# %% exercise="guess"
# How much is double(4)?
### BEGIN SOLUTION
guess = 8
### END SOLUTION

# %%
check("guess")

# %% [markdown] free_text="explain" points=4
# Why is it more?
'''

EXERCISES = {
    "double": '''\
"""double: twice as much."""
import torch
from smallnet.steps import double
from gradekit.exercise import Exercise

exercise = Exercise(double)


@exercise.check(points=3)
def numbers(lab, draw):
    """Doubles every entry."""
    return lab.double(draw.normal(2, 3))


@exercise.check(points=2, hidden=True)
def secret_shape(lab, draw):
    """Keeps a shape that only the grader knows."""
    return lab.double(draw.normal(2, 5, 1))


@exercise.mistake("Is that a square?")
def squares(x):
    return x * x
''',
    "total": '''\
"""total: the sum of the doubles."""
from smallnet.steps import double, total
from gradekit.exercise import Exercise

exercise = Exercise(total, uses=[double])


@exercise.check(points=1.5)
def adds(lab, draw):
    """Adds up."""
    return lab.total(draw.normal(2, 3))
''',
    "guess": '''\
"""guess: predict, then run."""
from gradekit.exercise import Exercise

exercise = Exercise(answers=["guess"])


@exercise.check(points=1)
def right(lab, draw):
    """Is the number right."""
    return lab.guess
''',
}


def write_small_course(root: Path) -> Course:
    """Write the course's files into `root` and load it."""
    folder = root / "autograder" / "exercises" / "lab01"
    for path in (folder, root / "lib" / "smallnet", root / "solutions"):
        path.mkdir(parents=True)
    (root / "course.toml").write_text(COURSE)
    shutil.copy(PROJECT / "nbgrader_config.py", root)
    (root / "lib" / "smallnet" / "__init__.py").write_text("")
    (root / "lib" / "smallnet" / "steps.py").write_text(LIBRARY)
    (root / "solutions" / "lab01_small.py").write_text(SOURCE)
    for name, text in EXERCISES.items():
        (folder / f"{name}.py").write_text(text)
    return load_course(root)


@contextmanager
def library_on_path(root: Path) -> Iterator[None]:
    """Make the course's library importable, and forget it afterwards."""
    sys.path.insert(0, str(root / "lib"))
    try:
        yield
    finally:
        sys.path.remove(str(root / "lib"))
        for name in [name for name in sys.modules if name.partition(".")[0] == "smallnet"]:
            del sys.modules[name]


def copy_real_course(root: Path) -> Course:
    """This project's own course, sources alone, so that a test may build it where it likes."""
    for name in ("course.toml", "nbgrader_config.py"):
        shutil.copy(PROJECT / name, root)
    (root / "solutions").mkdir()
    for source in (PROJECT / "solutions").glob("*.py"):
        shutil.copy(source, root / "solutions")
    shutil.copytree(
        PROJECT / "autograder" / "exercises",
        root / "autograder" / "exercises",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    return load_course(root)
