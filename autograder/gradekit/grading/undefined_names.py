"""Why a notebook lacks a name: what ended the cell that would have defined it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gradekit.python_names import names_bound_in
from gradekit.sandbox.limit_messages import first_line
from gradekit.sandbox.result import CellRun
from gradekit.untrusted.messages import Cell

_MOST = 160
_FILE = re.compile(r" \(<[^<>]{0,40}>, (line \d{1,6})\)$", re.MULTILINE)


def stopped_definitions(cells: Sequence[Cell], runs: Sequence[CellRun]) -> dict[str, str]:
    """What ended the last cell that binds a name, by that name, where an exception did.

    Cells run before any question arrives, so their errors' words can be repeated.

    Args:
        cells: the notebook's.
        runs: one for each of them.
    """
    last: dict[str, str] = {}
    for cell, run in zip(cells, runs, strict=True):
        errors = [out for out in run.outputs if out["output_type"] == "error"]
        stopped = run.state == "error" and errors
        why = _words(errors[0]["ename"], errors[0]["evalue"]) if stopped else ""
        last.update(dict.fromkeys(names_bound_in(cell.source), why))
    return {name: why for name, why in last.items() if why}


def _words(name: str, message: str) -> str:
    """An exception in one line, without the name that its cell has here."""
    said = _FILE.sub(r" (\1)", message.strip())
    return first_line(f"{name}: {said}" if said else name, _MOST).rstrip(".")
