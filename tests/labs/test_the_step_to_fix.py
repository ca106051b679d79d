"""A right step that fails on a wrong earlier one sends the student to that one, and to no other."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import pytest

from attnlab.checking.progress import earlier_steps
from attnlab.checking.run_visible import run_visible
from attnlab.checking.verdict import Verdict
from attnlab.checking.visible import VisibleExercise, VisibleLab
from demo.answers import put_in, right_answer
from demo.classroom import material_of
from demo.notebook import Notebook
from gradekit.exercise.definition import Exercise, Version
from gradekit.exercise.variants import Variants
from tests.helpers.our_labs import COURSE, LABS

# In every run one lab with some of its mistakes, in the long run all mistakes of labs 1 to 6: in
# the later ones, steps are trained or need minutes.
SHOWN, EVERY = "lab05", 40
LONG = ("lab01", "lab02", "lab03", "lab04", "lab05", "lab06")


def imports(notebook: Notebook) -> Iterator[ast.stmt]:
    """What the cells of a notebook import, but for its own machinery."""
    for cell in notebook.cells:
        if cell["cell_type"] == "code" and "check(" not in cell["source"]:
            for node in ast.parse(cell["source"]).body:
                if isinstance(node, ast.Import | ast.ImportFrom):
                    yield node


class OneNotebook:
    """The names of a lab's notebook in which every step is right but one."""

    def __init__(self, lab: str) -> None:
        self.lab = LABS[lab]
        solved = material_of(COURSE, lab).solved
        self.exercises = [e for e in self.lab.exercises if not e.saves]  # those are trained
        variants = Variants(self.lab)
        self.visible = {e.name: variants.visible(e) for e in self.exercises}
        self.steps = VisibleLab(lab, tuple(self.visible.values()))
        self.answers = {
            e.name: right_answer(solved, e.name) for e in self.exercises if e.references
        }
        self.imports = ast.Module([*imports(solved)], [])

    def names(self, exercise: Exercise, mistake: Version) -> dict[str, Any]:
        names: dict[str, Any] = {"__name__": "__main__", **self.lab.reference}
        exec(compile(self.imports, "<imports>", "exec"), names)
        for name, text in self.answers.items():
            text = put_in(text, exercise, mistake) if name == exercise.name else text
            exec(text, names)
        return names

    def failing_after(
        self, exercise: Exercise, names: dict[str, Any]
    ) -> Iterator[tuple[VisibleExercise, Verdict]]:
        """The later steps, which are right, that fail on the wrong one."""
        for later in self.exercises[self.exercises.index(exercise) + 1 :]:
            step = self.visible[later.name]
            verdict = run_visible(step, names)
            if not verdict.passed:
                yield step, verdict


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("lab", "every"),
    [(SHOWN, EVERY), *(pytest.param(lab, 1, marks=pytest.mark.slow) for lab in LONG)],
)
def test_a_right_step_on_a_wrong_one_sends_to_that_one(lab: str, every: int) -> None:
    notebook = OneNotebook(lab)
    seen = 0
    for exercise in notebook.exercises:
        for mistake in exercise.mistakes[::every] if exercise.references else ():
            names = notebook.names(exercise, mistake)
            for step, verdict in notebook.failing_after(exercise, names):
                found = earlier_steps(step, notebook.steps, names, verdict)
                wrong = [e.exercise.name for e in found if e.state != "passing"]
                # If only hidden checks would reject the mistake, its step is named as passing.
                perhaps = [e.exercise.name for e in found if e.state == "passing"]
                assert wrong == [exercise.name] or (not wrong and exercise.name in perhaps), (
                    exercise.name,
                    mistake.name,
                    step.name,
                )
                seen += 1
    assert seen > 5
