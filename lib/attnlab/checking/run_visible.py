"""Runs the visible checks of an exercise in this process and judges the observations.

Tested in ``tests/attnlab/notebook/test_check.py``, through ``check()``.
"""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from attnlab.checking.draw import Draw
from attnlab.checking.lab import Lab, observe
from attnlab.checking.observation import ObservationError, Opaque, Raised, pack, unpack
from attnlab.checking.verdict import Verdict, judge_exercise
from attnlab.checking.visible import VisibleCheck, VisibleExercise


def run_visible(exercise: VisibleExercise, names: Mapping[str, Any]) -> Verdict:
    """The verdict of the visible checks of `exercise` on the code in `names`.

    Args:
        exercise: the exercise.
        names: everything that the notebook defined.
    """
    seen = {check.question.name: _see(check, names, exercise.forbids) for check in exercise.checks}
    questions = [check.question for check in exercise.checks]
    return judge_exercise(questions, seen, exercise.mistakes)


def _see(check: VisibleCheck, names: Mapping[str, Any], forbids: tuple[str, ...]) -> Any:
    draw = Draw(check.seed, check.version_functions())
    # nbgrader gives a cell no points if it writes to stderr, even a warning. And the student's own
    # random numbers must not depend on whether they called check().
    with (
        contextlib.redirect_stderr(sys.stdout),
        torch.random.fork_rng(devices=[]),
        warnings.catch_warnings(),
    ):
        # torch's own warnings about the student's call name the file of ours that watches calls.
        warnings.filterwarnings("ignore", module=r"attnlab\.checking\.")
        try:
            return _plain(observe(check.probe(), Lab(names, Path.cwd()), draw, forbids))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a student's exception may have any base class
            return Raised(type(error).__name__)


def _plain(seen: Any) -> Any:
    """`seen` as the grader would receive it: plain values, no objects of the student's classes."""
    try:
        return unpack(pack(seen))
    except ObservationError:
        return Opaque("a value too large to compare")
