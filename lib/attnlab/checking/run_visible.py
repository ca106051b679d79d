"""Runs the visible checks of an exercise in this process and judges the observations.

Tested in ``tests/attnlab/notebook/test_check.py``, through ``check()``.
"""

from __future__ import annotations

import contextlib
import io
import random
import sys
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from types import CodeType, FrameType
from typing import Any

import numpy as np
import torch

from attnlab.checking.definitions import functions_in
from attnlab.checking.draw import Draw, seed_everything
from attnlab.checking.lab import Lab, observe
from attnlab.checking.lookup import working_folder
from attnlab.checking.observation import ObservationError, Opaque, Raised, as_received, clip
from attnlab.checking.verdict import Verdict, judge_exercise
from attnlab.checking.visible import VisibleCheck, VisibleExercise

MOST_PRINTED = 4_000


class Printed(io.TextIOBase):
    """Takes what the student's code prints; the beginning is kept.

    Attributes:
        text: the beginning, which ends with an ellipsis if something was left out.
    """

    text = ""

    def write(self, text: str) -> int:
        """Keep `text` if there is room."""
        if len(self.text) < MOST_PRINTED:
            self.text = clip(self.text + text, MOST_PRINTED)
        return len(text)


def run_visible(
    exercise: VisibleExercise,
    names: Mapping[str, Any],
    printed: Printed | None = None,
    others: Iterable[str] = (),
) -> Verdict:
    """The verdict of the visible checks of `exercise` on the code in `names`.

    Args:
        exercise: the exercise.
        names: everything that the notebook defined.
        printed: takes what the code prints; if None, it is not shown.
        others: the names of other steps, whose lines are not quoted if one of this step can be.
    """
    out = Printed() if printed is None else printed
    elsewhere = code_of(names, others) - code_of(names, exercise.names)
    seen = {
        check.prepared.name: _see(check, names, exercise.forbids, out, elsewhere)
        for check in exercise.checks
    }
    checks = [check.prepared for check in exercise.checks]
    return judge_exercise(checks, seen, exercise.mistakes)


def code_of(names: Mapping[str, Any], some: Iterable[str]) -> set[CodeType]:
    """The code of the functions, and of the classes' methods, that these names mean."""
    return {function.__code__ for name in some for function in functions_in(names.get(name))}


def code_that_runs(
    check: VisibleCheck, names: Mapping[str, Any], forbids: tuple[str, ...]
) -> set[CodeType]:
    """The code of every Python function that a check runs. The check is run once more for it."""
    found = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            found.add(frame.f_code)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        _see(check, names, forbids, Printed(), ())
    finally:
        sys.setprofile(before)
    return found


def _see(
    check: VisibleCheck,
    names: Mapping[str, Any],
    forbids: tuple[str, ...],
    out: Printed,
    elsewhere: Collection[CodeType],
) -> Any:
    draw = Draw(check.seed, check.version_functions())
    lab = Lab(names, working_folder())
    # A print in a function would appear above the result, once for each call of a check: so it is
    # kept for a fold. nbgrader gives a cell no points if it writes to stderr, even a warning. And
    # the student's own random numbers must not depend on whether they called check().
    with (
        _visible_debugger(),
        _usual_default_device(),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(out),
        _seeded(check.seed),
        warnings.catch_warnings(),
    ):
        # torch's own warnings about the student's call name the file of ours that watches calls.
        warnings.filterwarnings("ignore", module=r"attnlab\.checking\.")
        try:
            return _plain(observe(check.probe(), lab, draw, forbids, elsewhere))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a student's exception may have any base class
            return Raised(type(error).__name__)


@contextlib.contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Seed all random numbers as in grading, so that known mistakes with dropout are recognised."""
    python, numpy = random.getstate(), np.random.get_state()
    try:
        with torch.random.fork_rng(devices=[]):
            seed_everything(seed)
            yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)


@contextlib.contextmanager
def _usual_default_device() -> Iterator[None]:
    """Undo a change of torch's default device, which would stop every later cell."""
    before = torch.get_default_device()
    try:
        yield
    finally:
        if torch.get_default_device() != before:
            torch.set_default_device(None if before.type == "cpu" else before)


@contextlib.contextmanager
def _visible_debugger() -> Iterator[None]:
    """In this block, ``breakpoint()`` in the student's code talks to them, and not to a fold."""
    start, shown = sys.breakpointhook, sys.stdout

    def start_visibly(*arguments: Any, **options: Any) -> Any:
        sys.stdout = shown
        return start(*arguments, **options)

    sys.breakpointhook = start_visibly
    try:
        yield
    finally:
        sys.breakpointhook = start


def _plain(seen: Any) -> Any:
    """`seen` as the grader would receive it: plain values, no objects of the student's classes."""
    try:
        return as_received(seen)
    except ObservationError:
        return Opaque("a value too large to compare")
