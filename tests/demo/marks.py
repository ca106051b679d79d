"""What code should earn, worked out in this process: no sandbox, no journal, no gradebook.

It is the other way to the same number. Only the class's harmless code is run here (right answers
and written mistakes), never the hostile hand-ins'.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from attnlab.checking.verdict import judge_exercise
from demo.notebook import Notebook
from gradekit.catalog import LabExercises
from gradekit.exercise import Check, Exercise
from gradekit.paper import Paper

# Hidden inputs differ from paper to paper; points must not.
NUMBERS = (0, 5)


class Marks:
    """Marks notebooks of one lab.

    Args:
        lab: the lab's exercises.
    """

    def __init__(self, lab: LabExercises) -> None:
        self.lab = lab
        self._paper = Paper(lab)

    @property
    def full(self) -> dict[str, float]:
        """All the points, by exercise."""
        return {exercise.name: exercise.points for exercise in self.lab.exercises}

    @property
    def none(self) -> dict[str, float]:
        """No points, by exercise."""
        return dict.fromkeys(self.full, 0.0)

    def of(self, notebook: Notebook) -> dict[str, float]:
        """The points that a harmless notebook's answers earn, by exercise.

        Raises:
            ValueError: they depend on the paper that the hand-in happens to get.
        """
        names = _run(notebook, self.lab)
        earned = [
            {e.name: self._earned(e, number, names) for e in self.lab.exercises}
            for number in NUMBERS
        ]
        if any(other != earned[0] for other in earned):
            raise ValueError(f"the points depend on hidden inputs: {earned}")
        return earned[0]

    def _earned(self, exercise: Exercise, number: int, names: dict[str, Any]) -> float:
        seen = {
            check.name: self._seen(exercise, check, number, names) for check in exercise.checks
        }
        questions = self._paper.questions(exercise, number, with_mistakes=False)
        return judge_exercise(questions, seen, []).earned

    def _seen(
        self, exercise: Exercise, check: Check, number: int, names: dict[str, Any]
    ) -> Any:
        given = {} if check.chained else {f.__name__: f for f in exercise.uses}
        with _in_place(names, given):
            return self._paper.run(exercise, check, number, names, exercise.forbids)


def _run(notebook: Notebook, lab: LabExercises) -> dict[str, Any]:
    """What the notebook's first code cell and its answers define, each cell by itself."""
    names: dict[str, Any] = {"__name__": "__main__"}
    code = [cell["source"] for cell in notebook.cells if cell["cell_type"] == "code"]
    answers = [notebook.source(notebook.answer_at(e.name)) for e in lab.exercises]
    setup = [text for text in code if "import" in text and text not in answers][:1]
    for text in [*setup, *answers]:
        with contextlib.suppress(Exception):
            exec(compile(_without_magics(text), "<student>", "exec"), names)
    return names


def _without_magics(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if not line.startswith(("%", "!")))


@contextlib.contextmanager
def _in_place(names: dict[str, Any], given: Mapping[str, Any]) -> Iterator[None]:
    """`given` in `names`, so that the notebook's own functions call it, too; then as before."""
    before = dict(names)
    names.update(given)
    try:
        yield
    finally:
        names.clear()
        names.update(before)
