"""Why a notebook lacks a name: the exception in the cell that should have defined it."""

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
    """By name, the exception that ended the last cell that binds it, if one did.

    Cells run before any probe arrives, so it is safe to quote their exceptions.

    Args:
        cells: the notebook's.
        runs: one for each of them.

    Raises:
        ValueError: a run has a state that runs do not have.
    """
    last: dict[str, str] = {}
    for cell, run in zip(cells, runs, strict=True):
        last.update(dict.fromkeys(names_bound_in(cell.source), _exception_of(run)))
    return {name: why for name, why in last.items() if why}


def _exception_of(run: CellRun) -> str:
    """The exception that ended a cell; empty if none did."""
    match run.state:
        case "error":
            errors = [out for out in run.outputs if out["output_type"] == "error"]
            return _in_one_line(errors[0]["ename"], errors[0]["evalue"]) if errors else ""
        case "ok" | "stopped":
            return ""
        case state:
            raise ValueError(f"a cell's run has the state {state!r}")


def _in_one_line(name: str, message: str) -> str:
    """An exception in one line, without the name that its cell has in the sandbox."""
    words = _FILE.sub(r" (\1)", message.strip())
    return first_line(f"{name}: {words}" if words else name, _MOST).rstrip(".")
