"""A step of nbgrader's release: a blank cell that defines no function runs without an error.

nbgrader replaces every answer by one stub, ``raise NotImplementedError``. Inside a function that is
right: it is raised only by a call. At the top of a cell it would stop "Run All", so it is removed
there; the TODO above it stays. nbgrader_config.py names this class. Tested in
tests/gradekit/build/test_build.py.
"""

from __future__ import annotations

from typing import Any

from nbformat.notebooknode import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_solution

from gradekit.build.blanks import CODE_STUB

Resources = dict[str, Any]


class RunnableBlanks(NbGraderPreprocessor):
    """Removes the stub from the top level of solution cells; it must follow ClearSolutions."""

    def preprocess_cell(
        self, cell: NotebookNode, resources: Resources, index: int
    ) -> tuple[NotebookNode, Resources]:
        """Change one cell in place."""
        if cell.cell_type == "code" and is_solution(cell):
            lines = cell.source.split("\n")
            cell.source = "\n".join(line for line in lines if line != CODE_STUB)
        return cell, resources
