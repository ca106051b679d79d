"""Finds a lab's exercises: imports their files, puts them in the order of the lab's source."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from gradekit.course import Course, CourseError
from gradekit.exercise.definition import Exercise, ExerciseError

CHECK_CELL = re.compile(r'^check\("(\w+)"\)', re.MULTILINE)
_CELL_MARK = re.compile(r"^# %%", re.MULTILINE)


@dataclass(frozen=True)
class LabExercises:
    """A lab's exercises.

    Attributes:
        exercises: in the order in which the lab's source checks them.
        reference: the right answers of the whole lab, by name.
    """

    lab: str
    exercises: tuple[Exercise, ...]
    reference: Mapping[str, Any]

    def __getitem__(self, name: str) -> Exercise:
        for exercise in self.exercises:
            if exercise.name == name:
                return exercise
        raise KeyError(name)

    @property
    def points(self) -> float:
        """The points of all checks (a free-text question's come on top)."""
        return sum(exercise.points for exercise in self.exercises)


def load_lab(course: Course, lab: str) -> LabExercises:
    """Import the exercise files of `lab`.

    Raises:
        CourseError: the source checks an exercise that has no file, or a file is never checked.
        ExerciseError: a file contradicts itself.
    """
    source = course.source(lab)
    text = source.read_text("utf-8")
    order = list(dict.fromkeys(CHECK_CELL.findall(text)))
    folder = course.exercises(lab)
    files = {path.stem: path for path in folder.glob("[a-z]*.py")}
    for name in order:
        if name not in files:
            cell = len(_CELL_MARK.findall(text[: text.index(f'check("{name}")')]))
            raise CourseError(
                f"solutions/{source.name}: cell {cell} checks {name!r}, but "
                f"autograder/exercises/{lab} has no {name}.py"
            )
    for name in sorted(set(files) - set(order)):
        raise CourseError(
            f"autograder/exercises/{lab}/{name}.py: no cell of solutions/{source.name} is "
            f'check("{name}"); add one or remove the file'
        )
    course.check_exercise_limits(lab, order)
    exercises = tuple(_load(lab, name, files[name]) for name in order)
    _forbid_peeking(exercises)
    return LabExercises(lab, exercises, _reference(exercises, text, folder))


def _forbid_peeking(exercises: tuple[Exercise, ...]) -> None:
    """A reference enters the sandbox only after every question about it has been answered."""
    asked: set[str] = set()
    ours = {name for exercise in exercises for name in exercise.names}
    for exercise in exercises:
        for function in exercise.uses:
            if function.__name__ in ours - asked:
                raise ExerciseError(
                    f"{exercise.lab}/{exercise.name}.py uses {function.__name__}, which is asked "
                    "about only later; use what earlier exercises build"
                )
        asked.update(exercise.names)


def _load(lab: str, name: str, path: Path) -> Exercise:
    module_name = f"gradekit_exercises.{lab}.{name}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    spec.loader.exec_module(module)
    exercise = getattr(module, "exercise", None)
    if not isinstance(exercise, Exercise):
        raise ExerciseError(f"{path.name}: no `exercise = Exercise(…)` in it")
    if not exercise.checks:
        raise ExerciseError(f"{path.name}: no check in it; add one with @exercise.check(points=…)")
    exercise.lab, exercise.name = lab, name
    exercise.title = (module.__doc__ or name).strip().splitlines()[0].rstrip(".")
    return exercise


def _reference(exercises: tuple[Exercise, ...], source: str, folder: Path) -> dict[str, Any]:
    """The right answers: the library's functions, what solution cells define, saved weights."""
    names: dict[str, Any] = {
        reference.__name__: reference for exercise in exercises for reference in exercise.references
    }
    for exercise in exercises:
        if exercise.answers:
            names.update(_solution_names(exercise, source, names))
    names.update(saved_weights(exercises, folder))
    return names


def saved_weights(exercises: tuple[Exercise, ...], folder: Path) -> dict[str, dict[str, Tensor]]:
    """The reference's saved weights, by the names of their files, which lie in `folder`.

    Raises:
        ExerciseError: one is not there, or is no file of weights.
    """
    found = {}
    for exercise in exercises:
        for name in exercise.saves:
            try:
                found[name] = load_file(folder / name)
            except (OSError, SafetensorError) as error:
                raise ExerciseError(
                    f"{exercise.lab}/{exercise.name}.py saves {name}, but that file beside it "
                    f"cannot be read ({error}); _measure_{exercise.name}.py makes it"
                ) from error
    return found


def _solution_names(exercise: Exercise, source: str, known: Mapping[str, Any]) -> dict[str, Any]:
    namespace = dict(known)
    exec("import math\nimport torch\nfrom torch import Tensor", namespace)  # noqa: S102 - constant
    found = False
    for cell in _CELL_MARK.split(source):
        mark, _, body = cell.partition("\n")
        if re.search(rf'exercise="{exercise.name}"', mark):
            found = True
            exec(compile(body, f"<solution of {exercise.name}>", "exec"), namespace)  # noqa: S102 - ours
    missing = [name for name in exercise.answers if name not in namespace]
    if not found or missing:
        raise ExerciseError(
            f"{exercise.lab}/{exercise.name}.py asks for {', '.join(missing or exercise.answers)}, "
            f'which no cell marked exercise="{exercise.name}" in the lab\'s source defines'
        )
    return {name: namespace[name] for name in exercise.answers}
