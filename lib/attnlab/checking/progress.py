"""How far a student is: which steps are written, and which pass their visible checks.

Also says on which earlier steps a step runs. Tested in
``tests/attnlab/notebook/test_check.py`` and ``tests/attnlab/notebook/test_overview.py``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cache
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, Literal

from attnlab.checking.definitions import functions_in, globals_of, is_own
from attnlab.checking.lab import asked_names
from attnlab.checking.verdict import Verdict

if TYPE_CHECKING:
    from attnlab.checking.visible import VisibleCheck, VisibleExercise, VisibleLab

_PLACEHOLDER = "NotImplementedError"
_MOST_FOLLOWED = 1_000


@dataclass(frozen=True)
class EarlierStep:
    """An earlier step that a step runs on.

    Attributes:
        exercise: the earlier step.
        names: the part of it that is used.
        state: "blank" if that part is not written yet; otherwise "failing" or "passing", by the
            earlier step's own visible checks.
        replaced: whether grading puts correct versions in its place.
    """

    exercise: VisibleExercise
    names: tuple[str, ...]
    state: Literal["blank", "failing", "passing"]
    replaced: bool


@dataclass(frozen=True)
class StepProgress:
    """One step of the lab as it is now.

    Attributes:
        verdict: of its visible checks; None if nothing of it is written yet.
        waits_for: the first earlier step that it runs on and that is not right yet.
        changed: a sentence for each name of the step that a cell changed after its definition.
    """

    exercise: VisibleExercise
    verdict: Verdict | None
    waits_for: VisibleExercise | None = None
    changed: tuple[str, ...] = ()

    @property
    def earned(self) -> float:
        """The visible points earned."""
        return self.verdict.earned if self.verdict else 0.0

    @property
    def done(self) -> bool:
        """Whether every visible check passes."""
        return self.verdict is not None and self.verdict.passed


def steps_progress(
    lab: VisibleLab,
    names: Mapping[str, Any],
    as_graded: Callable[[str], AbstractContextManager[tuple[str, ...]]] = lambda _: nullcontext(()),
) -> list[StepProgress]:
    """Every step of `lab` with the verdict of its visible checks on the code in `names`.

    Args:
        lab: the lab.
        names: everything that the notebook defined.
        as_graded: gives `names` the values that grading takes for a step, in a block, and returns
            the sentences about them.
    """
    found: list[StepProgress] = []
    for exercise in lab.exercises:
        with as_graded(exercise.name) as changed:
            found.append(_progress_of(exercise, names, changed, found))
    return found


def _progress_of(
    exercise: VisibleExercise,
    names: Mapping[str, Any],
    changed: tuple[str, ...],
    found: list[StepProgress],
) -> StepProgress:
    from attnlab.checking.run_visible import run_visible

    if is_blank_step(exercise, names):
        return StepProgress(exercise, None, changed=changed)
    verdict = run_visible(exercise, names)
    needed = needed_names(exercise, names)
    earlier = (s.exercise for s in found if not s.done and needed.intersection(s.exercise.names))
    waits_for = None if verdict.passed else next(earlier, None)
    return StepProgress(exercise, verdict, waits_for, changed)


def is_blank_step(exercise: VisibleExercise, names: Mapping[str, Any]) -> bool:
    """Whether nothing of `exercise` is written yet."""
    return all(not is_written(names.get(name)) for name in exercise.names)


def earlier_steps(
    exercise: VisibleExercise, lab: VisibleLab, names: Mapping[str, Any], verdict: Verdict
) -> list[EarlierStep]:
    """The earlier steps of `lab` that the failed checks of `exercise` run on here.

    One that may fail only because of another in the list is left out. So is one that passes, unless
    the first failed check, which the advice is about, calls it. If none has failed, all count.

    Args:
        exercise: the exercise.
        lab: its lab.
        names: everything that the notebook defined.
        verdict: of the visible checks of `exercise`.
    """
    from attnlab.checking.run_visible import code_of, code_that_runs, run_visible

    checks = {check.prepared.name: check for check in exercise.checks}
    failed = [checks[one.check.name] for one in verdict.outcomes if not one.passed]
    needed = _needed_by(failed or exercise.checks, names)

    @cache
    def code_that_ran() -> set[CodeType]:
        return code_that_runs(failed[0], names, exercise.forbids) if failed else set()

    found: list[EarlierStep] = []
    wrong: set[str] = set()
    for other in lab.exercises[: lab.exercises.index(exercise)]:
        used = tuple(name for name in other.names if name in needed)
        blank = tuple(name for name in used if not is_written(names.get(name)))
        replaced = set(used) <= set(exercise.uses)
        if blank:
            found.append(EarlierStep(other, blank, "blank", replaced))
            wrong.update(blank)
        elif not used or wrong.intersection(needed_names(other, names)):
            continue
        elif not run_visible(other, names).passed:
            found.append(EarlierStep(other, used, "failing", replaced))
            wrong.update(used)
        elif ran := tuple(name for name in used if code_that_ran() & code_of(names, [name])):
            found.append(EarlierStep(other, ran, "passing", replaced))
    return found


def failing_steps(
    functions: Collection[Callable[..., Any]], lab: VisibleLab, names: Mapping[str, Any]
) -> list[VisibleExercise]:
    """The steps of `lab` that fail visible checks, of `functions` themselves and what they call.

    A step with two functions is asked only about those that are among them. In place of a step that
    may fail only because its checks run on an earlier one, the earlier one is returned.
    """
    from attnlab.checking.run_visible import run_visible

    inner = [one for function in functions for one in functions_in(function)]
    asked = {name for one in inner for name in globals_of(one.__code__)}
    asked |= {name for name, value in names.items() if any(value is one for one in functions)}

    @cache
    def passes(step: int, called: frozenset[str]) -> bool:
        return run_visible(_asked_about(lab.exercises[step], called), names).passed

    def failing(called: set[str], before: int) -> set[int]:
        """The numbers of the failing steps among those that define what is called."""
        found = set[int]()
        for step, exercise in enumerate(lab.exercises[:before]):
            used = frozenset(called.intersection(exercise.names))
            if used and not passes(step, used):
                needed = _needed_by(_asked_about(exercise, used).checks, names)
                found |= failing(needed, step) or {step}
        return found

    steps = failing(_called_from(asked, names), len(lab.exercises))
    return [lab.exercises[step] for step in sorted(steps)]


def _asked_about(exercise: VisibleExercise, called: Collection[str]) -> VisibleExercise:
    """The exercise with those of its checks that ask nothing but what is called, if there are."""
    others = set(exercise.names).difference(called)
    checks = [c for c in exercise.checks if not others.intersection(asked_names(c.source))]
    return replace(exercise, checks=tuple(checks)) if checks else exercise


def needed_names(exercise: VisibleExercise, names: Mapping[str, Any]) -> set[str]:
    """The names that run when `exercise` is checked here.

    The checks ask for some, and the student's own code calls the others, directly or through more
    of it. `exercise.uses` is what a step *may* call, so a step that does not is not sent to it.
    """
    return set(exercise.names) | _needed_by(exercise.checks, names)


def _needed_by(checks: Iterable[VisibleCheck], names: Mapping[str, Any]) -> set[str]:
    """The names that run in these checks."""
    return _called_from({n for check in checks for n in asked_names(check.source)}, names)


def _called_from(asked: Iterable[str], names: Mapping[str, Any]) -> set[str]:
    """These names and all that the student's own code calls through them."""
    found, todo = set(asked), [*asked]
    while todo and len(found) < _MOST_FOLLOWED:
        functions = functions_in(names.get(todo.pop()))
        called = {name for function in functions for name in globals_of(function.__code__)}
        todo += [name for name in called - found if is_own(names.get(name))]
        found |= called
    return found


def is_written(value: Any) -> bool:
    """Whether `value` is more than the task's placeholder: its body, or an empty dictionary."""
    if value is None or (type(value) in (dict, list) and not value):
        return False
    return all(_PLACEHOLDER not in code.co_names for code in _codes(value))


def _codes(value: Any) -> Iterator[CodeType]:
    """The code of a function, or of a class's own methods, functions inside included."""
    if isinstance(value, type):
        for item in list(vars(value).values()):
            if not isinstance(item, type):
                yield from _codes(item)
        return
    function = getattr(value, "__func__", None) or getattr(value, "fget", None) or value
    if isinstance(function, FunctionType):
        yield from _nested(inspect.unwrap(function).__code__)


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)
