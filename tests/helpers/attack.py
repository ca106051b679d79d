"""Runs hostile cells and tells what came of them."""

from __future__ import annotations

from pathlib import Path

from gradekit.sandbox.result import CellRun, SubmissionRun
from gradekit.sandbox.sandbox import Sandbox
from gradekit.untrusted.messages import Cell

# In the environment of whatever starts the sandboxes here.
TOKEN = "LAB_ATTACKS_TOKEN"


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


def read(path: Path) -> str:
    """A cell that prints a file."""
    return f"print(open({str(path)!r}).read())"


def assert_unreadable(sandbox: Sandbox, unconfined: Sandbox, path: Path, secret: str) -> None:
    """A file that nothing but the sandbox keeps a notebook from reading."""
    for folder in (path, *path.parents):
        if folder.stat().st_uid == path.stat().st_uid:
            folder.chmod(folder.stat().st_mode | 0o555)
    assert secret in said(unconfined, read(path))
    answer = said(sandbox, read(path))
    assert secret not in answer
    assert ("FileNotFoundError" if sandbox.level == "bubblewrap" else "PermissionError") in answer
