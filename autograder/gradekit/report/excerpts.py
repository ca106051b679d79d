"""The code that students with the same misconception wrote, without a trace of who they are.

Comments and docstrings may hold a name, and so may other cells. So an excerpt is only the
definitions that the step asks for, printed again from their syntax tree. It is never run.
"""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from gradekit.feedback.graded_notebook import AUTOGRADED
from gradekit.python_names import names_bound_by, parsed
from gradekit.report.class_results import ClassResults
from gradekit.report.misconceptions import Misconception

MOST_EXCERPTS, MOST_LINES, MOST_LETTERS = 3, 24, 100
_MOST_BYTES, _MOST_CODE = 20_000_000, 50_000


@dataclass(frozen=True)
class Excerpt:
    """A piece of code.

    Attributes:
        code: as Python prints it, without comments and docstrings.
        students: how many wrote exactly this.
    """

    code: str
    students: int


class Excerpts:
    """Reads the graded notebooks of a class, each at most once."""

    def __init__(self, results: ClassResults) -> None:
        self._root, self._lab = results.course.root, results.lab
        self._file = f"{results.released.name}.ipynb"
        self._renamed = results.released.renamed
        self._names = {
            (hand_in.student, name): result.names
            for hand_in in results.graded
            for name, result in hand_in.results.items()
        }
        self._cells = cache(self._read)

    def of(self, misconception: Misconception) -> tuple[Excerpt, ...]:
        """Up to three pieces of code with this misconception, the most frequent first."""
        found: Counter[str] = Counter()
        for student in misconception.students:
            text = self._cells(student).get(misconception.step, "")
            code = _definitions(text, self._names.get((student, misconception.step), ()))
            if code:
                found[code] += 1
        return tuple(Excerpt(_short(c), n) for c, n in found.most_common(MOST_EXCERPTS))

    def _read(self, student: str) -> Mapping[str, str]:
        """The texts of the student's cells by the id in the released notebook."""
        path = self._root / AUTOGRADED / student / self._lab / self._file
        return _texts(path, self._renamed)


def _texts(path: Path, renamed: Mapping[str, str]) -> dict[str, str]:
    """`nbformat` would check the notebook, too, which takes ten times as long."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            return {}
        cells = json.loads(path.read_bytes())["cells"]
        pairs = [(_id_of(cell), "".join(cell["source"])) for cell in cells]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
    return {renamed.get(name, name): text for name, text in pairs if name}


def _id_of(cell: Mapping[str, Any]) -> str:
    return str(cell["metadata"].get("nbgrader", {}).get("grade_id", ""))


def _definitions(text: str, names: Collection[str]) -> str:
    """The definitions of `names` in a cell; empty if there are none, or if it is not Python."""
    if len(text) > _MOST_CODE:
        return ""
    try:
        body = parsed(text).body
        kept = [node for node in body if not set(names).isdisjoint(names_bound_by(node))]
        return "\n\n".join(ast.unparse(_without_docstrings(node)) for node in kept)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""


def _without_docstrings(tree: ast.stmt) -> ast.stmt:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    for node in ast.walk(tree):
        if isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return tree


def _short(code: str) -> str:
    lines = [_cut(line) for line in code.splitlines()]
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], "…"]
    return "\n".join(lines)


def _cut(line: str) -> str:
    return line if len(line) <= MOST_LETTERS else f"{line[:MOST_LETTERS]}…"
