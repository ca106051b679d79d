"""Which cells changed names after the steps that use them, in words for the student.

Cells run before any probe arrives, so it is safe to say what they did.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradekit.sandbox.limit_messages import first_line
from gradekit.sandbox.result import CellRun
from gradekit.untrusted.messages import Cell
from gradekit.wording import first_of

_MOST_CELLS, _MOST_NAMES, _MOST_LINE = 3, 4, 60


def changed_later(cells: Sequence[Cell], runs: Sequence[CellRun]) -> tuple[str, ...]:
    """One sentence for each of the first cells that changed such names.

    Args:
        cells: the notebook's.
        runs: one for each of them.
    """
    changes = [change for run in runs for change in run.changes]
    found = sorted({change.cell for change in changes})
    sentences = []
    for cell in found[:_MOST_CELLS]:
        names = dict.fromkeys(change.name for change in changes if change.cell == cell)
        sentences.append(_sentence(first_line(cells[cell].source, _MOST_LINE), list(names)))
    if len(found) > _MOST_CELLS:
        sentences.append(f"{len(found) - _MOST_CELLS} more cells do the same.")
    return tuple(sentences)


def _sentence(line: str, names: Sequence[str]) -> str:
    shown = first_of((f"`{name}`" for name in names), _MOST_NAMES)
    return (
        f"The cell that begins `{line}` changes {shown}, which an earlier step defines or "
        "uses. Your steps were graded as they were before that cell; use another name there."
    )
