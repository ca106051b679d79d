"""The released notebook, and its cells with an nbgrader id, with which submissions are aligned."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeVar

from nbformat.notebooknode import NotebookNode

from gradekit.python_names import names_bound_by
from gradekit.submissions.notebook import checked_exercise, open_notebook

Kind = Literal["test", "solution", "answer", "locked"]
T = TypeVar("T")


@dataclass(frozen=True)
class TargetCell:
    """One released cell that nbgrader knows by its id.

    Attributes:
        kind: an autograded test, a solution cell, a free-text answer, or locked text or code.
        points: of a test or an answer.
        names: the names that a solution cell defines.
        exercise: the exercise that a test cell checks.
        prompt: the text before an answer.
        heading: the nearest heading above, or in the cell itself; empty if there is none.
        renamed_from: the id that nbgrader had for it before; empty if it has not changed.
    """

    grade_id: str
    kind: Kind
    cell: NotebookNode
    points: float = 0.0
    names: tuple[str, ...] = ()
    exercise: str = ""
    prompt: str = ""
    heading: str = ""
    renamed_from: str = ""

    def is_new(self, text: str) -> bool:
        """Whether `text` contains anything that the released cell does not."""
        return bool(self.own_text(text))

    def own_text(self, text: str) -> str:
        """The student's part of a free-text cell: without the question and the placeholder."""
        given = {line.strip() for line in self.cell.source.splitlines()}
        given.discard("")
        return "\n".join(line for line in text.splitlines() if line.strip() not in given).strip()


@dataclass(frozen=True)
class Released:
    """A lab's released notebook.

    Attributes:
        name: the file's name without .ipynb; nbgrader's notebook id.
        notebook: as released.
        solution_names: by a solution cell's id, the names that it defines, if its text does not.
    """

    name: str
    notebook: NotebookNode
    solution_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def read(
        cls, path: Path, solution_names: Mapping[str, tuple[str, ...]] | None = None
    ) -> Released:
        """The released notebook at `path`. Raises NotebookError or OSError."""
        notebook, _ = open_notebook(path.read_bytes(), path.name)
        return cls(path.stem, notebook, solution_names or {})

    @cached_property
    def targets(self) -> tuple[TargetCell, ...]:
        """The cells that nbgrader knows, in order."""
        targets, prose, heading = [], "", ""
        for cell in self.notebook.cells:
            if cell.cell_type == "markdown":
                heading = _heading(cell.source) or heading
            target = _target(cell, prose, self.solution_names)
            if target:
                before = cell.metadata.get("attnlab", {}).get("renamed_from", "")
                targets.append(replace(target, heading=heading, renamed_from=before))
            if cell.cell_type == "markdown":
                prose = cell.source
        return tuple(targets)

    @property
    def tests(self) -> tuple[TargetCell, ...]:
        """The cells that are graded automatically."""
        return tuple(target for target in self.targets if target.kind == "test")

    @property
    def answers(self) -> tuple[TargetCell, ...]:
        """The cells that a TA marks."""
        return tuple(target for target in self.targets if target.kind == "answer")

    @cached_property
    def renamed(self) -> Mapping[str, str]:
        """The new ids of renamed cells by their ids before."""
        return {t.renamed_from: t.grade_id for t in self.targets if t.renamed_from}

    def with_new_names(self, values: Mapping[str, T]) -> dict[str, T]:
        """Values by ids or exercises, which may be those of before, by the ids of now."""
        old = {self.renamed[name]: value for name, value in values.items() if name in self.renamed}
        return {**old, **{name: v for name, v in values.items() if name not in self.renamed}}

    @cached_property
    def sources(self) -> frozenset[str]:
        """The texts of all released cells, to distinguish them from the student's own."""
        return frozenset(cell.source.strip() for cell in self.notebook.cells)


def grade_id_of(cell: NotebookNode) -> str | None:
    """The id that nbgrader knows the cell by, if it has one."""
    nbgrader = cell.metadata.get("nbgrader")
    value = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    return value if isinstance(value, str) and value else None


def _target(
    cell: NotebookNode, prose: str, names: Mapping[str, tuple[str, ...]]
) -> TargetCell | None:
    grade_id, nbgrader = grade_id_of(cell), cell.metadata.get("nbgrader", {})
    if grade_id is None:
        return None
    grade, solution = bool(nbgrader.get("grade")), bool(nbgrader.get("solution"))
    points = float(nbgrader.get("points", 0) or 0)
    if grade and solution:
        return TargetCell(grade_id, "answer", cell, points, prompt=prose)
    if grade:
        exercise = checked_exercise(cell.source) or grade_id.removeprefix("check_")
        return TargetCell(grade_id, "test", cell, points, exercise=exercise)
    if solution:
        return TargetCell(
            grade_id, "solution", cell, names=names.get(grade_id) or _defined_in(cell.source)
        )
    return TargetCell(grade_id, "locked", cell)


def _heading(source: str) -> str:
    """The heading at the beginning of a Markdown cell; empty if there is none."""
    line = source.lstrip().partition("\n")[0]
    return line.lstrip("#").strip() if line.startswith("#") else ""


def _defined_in(source: str) -> tuple[str, ...]:
    """The functions and classes that a released solution cell defines, else what it assigns."""
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return ()
    definitions = [node for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    assignments = [node for node in body if isinstance(node, ast.Assign)]
    return tuple(name for node in definitions or assignments for name in names_bound_by(node))
