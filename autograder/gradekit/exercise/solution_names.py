"""The right answers of a lab by name: references, solution cells, saved weights.

Tested in tests/gradekit/exercise/test_loader.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from gradekit.errors import CourseError, ExerciseError
from gradekit.exercise.authoring_errors import line_in
from gradekit.exercise.definition import Exercise
from gradekit.exercise.source import Source

_SOLUTION = "<solution>"


def solution_names(exercises: tuple[Exercise, ...], source: Source) -> dict[str, Any]:
    """The right answers: the library's functions, what solution cells define, saved weights."""
    names: dict[str, Any] = {
        reference.__name__: reference for exercise in exercises for reference in exercise.references
    }
    for exercise in exercises:
        if exercise.answers:
            names.update(_of_answers(exercise, source, names))
    names.update(_saved_weights(exercises))
    return names


def _saved_weights(exercises: tuple[Exercise, ...]) -> dict[str, dict[str, Tensor]]:
    """The reference's saved weights, by the names of their files in the exercises' folders.

    Raises:
        ExerciseError: one is not there, or is not a file of weights.
    """
    found = {}
    for exercise in exercises:
        for path in exercise.saved_paths:
            try:
                found[path.name] = load_file(path)
            except (OSError, SafetensorError) as error:
                raise ExerciseError(
                    f"{exercise.lab}/{exercise.name} saves {path.name}, but that file in its "
                    f"folder cannot be read ({error}); run measure.py next to it, which makes it"
                ) from error
    return found


def _of_answers(exercise: Exercise, source: Source, known: Mapping[str, Any]) -> dict[str, Any]:
    """What the solution cell of an exercise of answers defines."""
    namespace = dict(known)
    exec("import math\nimport torch\nfrom torch import Tensor", namespace)  # noqa: S102 - constant
    for cell in source.of("exercise"):
        if cell.name == exercise.name:
            try:
                exec(compile(cell.text, _SOLUTION, "exec"), namespace)  # noqa: S102 - ours
            except Exception as error:
                line = cell.line + line_in(_SOLUTION, error)
                what = error.msg if isinstance(error, SyntaxError) else error
                raise CourseError(
                    f"solutions/{source.path.name}, line {line}: {type(error).__name__} ({what}); "
                    f"correct the solution of {cell.name}"
                ) from error
    missing = [name for name in exercise.answers if name not in namespace]
    if missing:
        raise ExerciseError(
            f"{exercise.lab}/{exercise.name}.py asks for {', '.join(missing)}, which the cell "
            f'marked exercise="{exercise.name}" in the lab\'s source does not define'
        )
    return {name: namespace[name] for name in exercise.answers}
