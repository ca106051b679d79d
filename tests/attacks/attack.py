"""Runs hostile cells and tells what came of them."""

from __future__ import annotations

from gradekit.probes import Cell
from gradekit.sandbox import Sandbox
from gradekit.submission_run import CellRun, SubmissionRun


def run_cells(sandbox: Sandbox, *sources: str) -> SubmissionRun:
    """Run a notebook of these cells, without probes."""
    return sandbox.run([Cell(f"cell-{i}", source) for i, source in enumerate(sources)], [])


def said(sandbox: Sandbox, source: str) -> str:
    """What a cell printed, returned and raised, as one text."""
    (cell,) = run_cells(sandbox, source).cells
    return text_of(cell)


def text_of(cell: CellRun) -> str:
    """All that a cell showed, as one text, and why it was stopped."""
    parts = [cell.reason]
    for output in cell.outputs:
        parts += [output.get("text", ""), output.get("ename", ""), output.get("evalue", "")]
        parts.append(output.get("data", {}).get("text/plain", ""))
    return "\n".join(parts)
