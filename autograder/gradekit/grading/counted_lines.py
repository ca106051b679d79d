"""How many lines of a given program a notebook changed, counted from the notebook's own cells.

The student's process also counts, for `check()`. In grading its number is not believed, because
that process belongs to the student. Tested in tests/gradekit/grading/test_counted_lines.py.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from attnlab.checking.changed_lines import CHANGED, FewChanges, changed_lines
from gradekit.python_names import names_bound_by


def with_changes_of(seen: Any, judge: FewChanges, sources: Sequence[str]) -> Any:
    """The observation `seen` with the number of changed lines in the notebook's cells.

    The number is -1, which no fix may have, if the last statement that binds the name is not a
    definition: then nobody can say what was changed.
    """
    if not isinstance(seen, dict) or CHANGED not in seen:
        return seen
    last = None
    for statement in _statements(sources):
        if judge.name in names_bound_by(statement):
            last = statement
    if not isinstance(last, (ast.FunctionDef, ast.ClassDef)):
        return {**seen, CHANGED: -1}
    return {**seen, CHANGED: changed_lines(judge.before, ast.unparse(last))}


def _statements(sources: Sequence[str]) -> Iterator[ast.stmt]:
    """The statements at the top of all cells that are Python; IPython's own lines are left out."""
    for source in sources:
        lines = ["" if line.startswith(("%", "!")) else line for line in source.split("\n")]
        try:
            yield from ast.parse("\n".join(lines)).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
