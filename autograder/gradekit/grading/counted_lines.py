"""How many lines of a given program a notebook changed, counted from the notebook's own cells.

The student's process also counts, for `check()`. In grading its number is not believed, because
that process belongs to the student. Tested in tests/gradekit/grading/test_counted_lines.py.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

from attnlab.checking.changed_lines import CHANGED, FewChanges, changed_lines
from gradekit.python_names import names_bound_by, parsed

# The judge has no limit on its time, so it compares no longer text than any fix could be.
_MOST_CODE = 2**19  # characters of all cells; a lab has a tenth of it
_MOST_LINES = 2000
# Cell magics that run the cell's code in the notebook; others write it to a file or leave it out.
_RUNS_HERE = ("%%time", "%%capture", "%%prun")
_NOT_COUNTED = -1
# Lines of IPython's own, also inside a block and behind an assignment: `!ls`, `x = %pwd`, `len?`.
_OF_IPYTHON = re.compile(
    r"^([ \t]*+)(?:[\w.,]++(?:[ \t]++[\w.,]++)*+[ \t]*+=[ \t]*+)?"
    r"(?:[!%?].*+|[\w.*%]++\?\??[ \t]*+)$",
    re.MULTILINE,
)


def with_changes_of(seen: Any, judge: FewChanges, sources: Sequence[str]) -> Any:
    """The observation `seen` with the number of changed lines in the notebook's cells.

    The number is -1, which no fix may have, if the last statement that binds the name is not a
    definition, or if it or the notebook is too long or too deeply nested to be compared: then it is
    not known what was changed.
    """
    if not isinstance(seen, dict) or CHANGED not in seen:
        return seen
    if sum(map(len, sources)) > _MOST_CODE:
        return {**seen, CHANGED: _NOT_COUNTED}
    last = None
    for statement in _statements(tuple(sources)):
        if judge.name in names_bound_by(statement):
            last = statement
    return {**seen, CHANGED: _count(judge.before, last)}


def _count(before: str, last: ast.stmt | None) -> int:
    if not isinstance(last, (ast.FunctionDef, ast.ClassDef)):
        return _NOT_COUNTED
    try:
        text = ast.unparse(last)
        return changed_lines(before, text) if text.count("\n") <= _MOST_LINES else _NOT_COUNTED
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _NOT_COUNTED


@lru_cache(maxsize=1)  # a lab's bug clinics ask about the same notebook one after another
def _statements(sources: tuple[str, ...]) -> tuple[ast.stmt, ...]:
    """The statements at the top of all cells that are Python; IPython's own lines are left out."""
    return tuple(statement for source in sources for statement in _statements_in(source))


def _statements_in(source: str) -> list[ast.stmt]:
    if not _runs_here(source):
        return []
    lines = ["" if line.startswith(("%", "!")) else line for line in source.split("\n")]
    for text in ("\n".join(lines), _OF_IPYTHON.sub(r"\1pass", source)):
        with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            return parsed(text).body
    return []


def _runs_here(source: str) -> bool:
    first = source.lstrip().partition("\n")[0]
    return not first.startswith("%%") or first.split()[0] in _RUNS_HERE
