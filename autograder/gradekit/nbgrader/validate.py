"""``nbgrader validate``, and JupyterLab's Validate button, with the judge, in the course's folder.

nbgrader's validator runs a notebook in a kernel of the user's own account, and then reads the test
cells' outputs. nbgrader_config.py adds :class:`Validation` to that run, at the hook that Jupyter
has for it. Then no cell reaches the kernel. The judge provides the test cells' outputs when they
are first read.

This file imports almost nothing, because nbgrader_config.py imports it for every command. Tested in
tests/gradekit/nbgrader/test_validate.py.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradekit.nbgrader.judged import JudgedNotebook

_SKIPPED = "skip-execution"  # nbclient's tag for a cell that it must not run


@dataclass
class Validation:
    """For ``Execute.on_cell_start``: validates a notebook, whose cells it gets one by one.

    Attributes:
        root: the course's folder. It is given, not searched for, because a hand-in may hold a
            course.toml, too.
    """

    root: Path
    _judging: JudgedNotebook | None = None

    def __call__(self, cell: Any, cell_index: int) -> None:
        """Keep a cell away from the kernel; in a test cell, replace the outputs by the judge's."""
        from gradekit.nbgrader.judged import JudgedNotebook
        from gradekit.submissions.notebook import checked_exercise
        from gradekit.submissions.released import grade_id_of

        if cell_index == 0 or self._judging is None:
            self._judging = JudgedNotebook(self.root, Path.cwd())
        self._judging.cells.append(copy.deepcopy(cell))
        cell.metadata["tags"] = [_SKIPPED]
        if cell.cell_type != "code":
            return
        exercise = checked_exercise(cell.source)
        about = cell.metadata.get("nbgrader")
        if exercise and not about:  # an editor lost it, and nbgrader needs it
            about = {"grade": True, "solution": False, "points": 1.0, "cell_type": "code"}
            cell.metadata["nbgrader"] = {**about, "grade_id": f"check_{exercise}"}
        cell.outputs = _Outputs(self._judging, grade_id_of(cell), exercise)


class _Outputs(list[Any]):
    """A test cell's outputs: none if it earned all points, else an error with the reasons."""

    def __init__(self, judging: JudgedNotebook, grade_id: str | None, exercise: str | None) -> None:
        super().__init__()
        self._judging, self._grade_id, self._exercise = judging, grade_id, exercise

    def __iter__(self) -> Iterator[Any]:
        from gradekit.nbgrader.judged import error_output

        lines = self._judging.reasons(self._grade_id, self._exercise)
        return iter([error_output(lines)] if lines else [])
