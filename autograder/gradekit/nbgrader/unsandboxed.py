"""Runs all checks of an exercise in the notebook's own process, for nbgrader without the sandbox.

The hidden line of a grade cell calls :func:`check`. A course without this kit's plugins can still
grade with it, but it has nbgrader's own weakness: the student's code and the reference share one
process, so a student can cheat deliberately.

Tested in tests/gradekit/nbgrader/test_unsandboxed.py.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from IPython.core.getipython import get_ipython

from attnlab.checking.observation import ObservationError, Opaque
from attnlab.checking.verdict import Verdict, judge_exercise
from gradekit.course import find_root, load_course
from gradekit.exercise.definition import Check, Exercise
from gradekit.exercise.loader import load_lab
from gradekit.exercise.variants import Variants


def check(name: str, lab: str) -> float:
    """The points that the notebook's names earn in exercise `name`, hidden checks included.

    nbgrader reads the number as partial credit; it is never more than the exercise's points.

    Raises:
        CourseError: no course.toml is above the working folder, or the lab's files contradict each
            other.
        KeyError: the lab has no such exercise.
    """
    shell = get_ipython()
    names = shell.user_ns if shell is not None else sys._getframe(1).f_globals
    variants = Variants(load_lab(load_course(find_root(Path.cwd())), lab))
    verdict = judge_names(variants, variants.lab[name], names)
    return min(verdict.earned, float(verdict.points))


def judge_names(variants: Variants, exercise: Exercise, names: Mapping[str, Any]) -> Verdict:
    """Run every check of `exercise` on `names` in this process, and judge it."""
    seen = {check.name: _see(variants, exercise, check, names) for check in exercise.checks}
    return judge_exercise(variants.prepared_checks(exercise, 0), seen, [])


def _see(variants: Variants, exercise: Exercise, check: Check, names: Mapping[str, Any]) -> Any:
    replaced = () if check.chained else (*exercise.uses, *exercise.tested)
    earlier = {item.__name__: item for item in replaced}
    # nbgrader gives no points if there is anything on stderr, even a warning.
    with contextlib.redirect_stderr(sys.stdout), torch.random.fork_rng(devices=[]):
        try:
            return variants.run(exercise, check, 0, {**names, **earlier}, tuple(exercise.forbids))
        except ObservationError:
            return Opaque("a value too large to compare")
