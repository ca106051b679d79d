"""The points that code should earn, computed in this process: no sandbox, no journal, no gradebook.

This is an independent way to the same number. Only the class's harmless code is run here (right
answers and written mistakes), never that of hostile submissions.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from attnlab.checking.verdict import judge_exercise
from demo.notebook import Notebook
from gradekit.exercise.definition import Check, Exercise
from gradekit.exercise.loader import LabExercises
from gradekit.exercise.variants import Variants

# Hidden inputs differ between variants; points must not.
NUMBERS = (0, 5)
_IMPORT = re.compile(r"(?:import|from) ")


class Marks:
    """Marks notebooks of one lab.

    Args:
        lab: the lab's exercises.
    """

    def __init__(self, lab: LabExercises) -> None:
        self.lab = lab
        self._variants = Variants(lab)

    @property
    def full(self) -> dict[str, float]:
        """All the points, by exercise."""
        return {exercise.name: exercise.points for exercise in self.lab.exercises}

    @property
    def none(self) -> dict[str, float]:
        """No points, by exercise."""
        return dict.fromkeys(self.full, 0.0)

    def of(self, notebook: Notebook, changed: Collection[str]) -> dict[str, float]:
        """The points that a harmless notebook earns, by exercise.

        Args:
            changed: the exercises whose answers may be wrong; the others are right. A wrong step
                costs other exercises nothing, except in checks that run all steps together.

        Raises:
            ValueError: the points depend on the variant that is asked.
        """
        names = _run(notebook, self.lab)
        asked = [
            exercise
            for exercise in self.lab.exercises
            if exercise.name in changed or any(check.chained for check in exercise.checks)
        ]
        earned = [{e.name: self._earned(e, n, names) for e in asked} for n in NUMBERS]
        if any(points != earned[0] for points in earned):
            raise ValueError(f"the points depend on hidden inputs: {earned}")
        return {**self.full, **earned[0]}

    def _earned(self, exercise: Exercise, number: int, names: dict[str, Any]) -> float:
        seen = {check.name: self._seen(exercise, check, number, names) for check in exercise.checks}
        questions = self._variants.prepared_checks(exercise, number)
        return judge_exercise(questions, seen, []).earned

    def _seen(self, exercise: Exercise, check: Check, number: int, names: dict[str, Any]) -> Any:
        given = {} if check.chained else {f.__name__: f for f in exercise.uses}
        with _replaced(names, given):
            return self._variants.run(exercise, check, number, names, exercise.forbids)


def _run(notebook: Notebook, lab: LabExercises) -> dict[str, Any]:
    """The names that the notebook imports above its first answer, and those that answers define."""
    names: dict[str, Any] = {"__name__": "__main__"}
    answers = [notebook.answer_at(exercise.name) for exercise in lab.exercises]
    above = [cell["source"] for cell in notebook.cells[: answers[0]] if cell["cell_type"] == "code"]
    imports = [line for text in above for line in text.split("\n") if _IMPORT.match(line)]
    for text in [*imports, *map(notebook.source, answers)]:
        with contextlib.suppress(Exception):  # as in a notebook, the next cell runs anyway
            exec(compile(text, "<student>", "exec"), names)
    return names


@contextlib.contextmanager
def _replaced(names: dict[str, Any], given: Mapping[str, Any]) -> Iterator[None]:
    """In this block, `given` is in `names`, so that the notebook's own functions call it, too."""
    before = dict(names)
    names.update(given)
    try:
        yield
    finally:
        names.clear()
        names.update(before)
