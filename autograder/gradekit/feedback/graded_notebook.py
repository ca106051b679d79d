"""The notebook that people read after grading: aligned, run, judged, unable to run anything.

Each test cell's output is the judge's: a number that nbgrader reads as its points, and HTML for
people. Students' outputs stay above it, as text and pictures.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime
from html import escape
from pathlib import Path
from typing import Any

import nbformat
from nbformat.notebooknode import NotebookNode

from gradekit.feedback.sanitize import sanitize_cell, sanitize_cells, sanitize_outputs
from gradekit.files import write_whole
from gradekit.results.records import ExerciseResult, Graded
from gradekit.submissions.align import align
from gradekit.submissions.folder import SUBMITTED, TIMESTAMP, SubmittedFiles, format_timestamp
from gradekit.submissions.released import Released, grade_id_of
from gradekit.submissions.submission import Submission

AUTOGRADED = "autograded"
SENDER = "submission_secret.txt"
_SENDER_BYTES = 4096
_PASSED, _FAILED = "✓", "✗"


def graded_notebook(
    submission: Submission,
    released: Released,
    graded: Graded,
    results: Mapping[str, ExerciseResult],
) -> NotebookNode:
    """The notebook for formgrader.

    Args:
        submission: the student's; a broken one shows the released notebook and the reason.
        released: the lab's released notebook.
        graded: outputs by cell, and what stopped or broke the run.
        results: every exercise's result, new or from the journal.
    """
    if submission.notebook is None:
        notebook = released.notebook
    else:
        notebook = _with_outputs(submission.notebook, graded)
    aligned = align(notebook, released)
    sanitize_cells(aligned.cells, released.sources)
    theirs = "" if submission.is_ours else submission.broken or ""
    put_results(aligned, released, results, theirs)
    remarks = [submission.broken, graded.broken, graded.stopped, *submission.notes, *graded.notes]
    banner = _banner([remark for remark in remarks if remark])
    aligned.cells[:0] = banner
    return aligned


def _with_outputs(notebook: NotebookNode, graded: Graded) -> NotebookNode:
    """A copy of `notebook` whose code cells show their outputs."""
    cells = [
        NotebookNode(cell, outputs=sanitize_outputs(graded.outputs.get(cell.id, [])))
        if cell.cell_type == "code"
        else cell
        for cell in notebook.cells
    ]
    return NotebookNode(notebook, cells=cells)


def put_results(
    notebook: NotebookNode,
    released: Released,
    results: Mapping[str, ExerciseResult],
    broken: str = "",
) -> None:
    """Give each test cell of an aligned notebook the judge's output.

    Args:
        broken: why the whole submission earns nothing, in one sentence; then no result is needed.
    """
    by_id = {grade_id_of(cell): cell for cell in notebook.cells}
    for target in released.tests:
        result = results.get(target.exercise)
        if result is not None:
            output = judged_output(result)
        elif broken:
            output = _output(0.0, f'<p class="ours">{escape(broken)}</p>')
        else:
            output = _output(0.0, "<p>Not graded yet.</p>")
        by_id[target.grade_id].outputs = [output]


def judged_output(result: ExerciseResult) -> NotebookNode:
    """A test cell's output: the points as text, and checks and advice as escaped HTML."""
    if result.earned is None:
        return _output(0.0, f"<p>{escape(result.not_graded)}</p>")
    rows = "".join(
        f'<tr><td style="padding: 2px 8px">{_PASSED if check.passed else _FAILED}</td>'
        f'<td style="padding: 2px 8px; text-align: left">{escape(check.title)}'
        f"{' (hidden)' if check.hidden else ''}</td>"
        f'<td style="padding: 2px 8px">{check.earned:g} / {check.points:g}</td></tr>'
        for check in result.checks
    )
    advice = "".join(f"<li>{escape(sentence)}</li>" for sentence in result.advice)
    head = f"<p><b>{result.earned:g} of {result.points:g} points</b></p>"
    return _output(result.earned, f"{head}<table>{rows}</table>{advice and f'<ul>{advice}</ul>'}")


def write_graded_notebook(root: Path, submitted: SubmittedFiles, name: str, text: str) -> Path:
    """Write ``autograded/<student>/<lab>/<name>.ipynb`` and the files next to it, each as a whole.

    Args:
        text: the notebook as JSON.

    Returns:
        The notebook's path.
    """
    folder = root / AUTOGRADED / submitted.student / submitted.lab
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.ipynb"
    for part in (*folder.glob(f".{name}.ipynb.*"), *folder.glob(f".{TIMESTAMP}.*")):
        part.unlink(
            missing_ok=True
        )  # of a run that was killed; only one process at a time writes here
    write_whole(path, text)
    _write_timestamp(folder / TIMESTAMP, submitted.submitted_at)
    _copy_sender(root / SUBMITTED / submitted.student / submitted.lab / SENDER, folder / SENDER)
    return path


def _write_timestamp(path: Path, moment: datetime | None) -> None:
    if moment is None:
        path.unlink(missing_ok=True)
    else:
        write_whole(path, format_timestamp(moment))


def _copy_sender(source: Path, target: Path) -> None:
    """The file that ``nbgrader release_feedback`` needs, of hand-ins from nbgrader's exchange."""
    try:
        handle = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(handle, "rb") as file:
            text = file.read(_SENDER_BYTES).decode("ascii")
    except (OSError, UnicodeDecodeError):
        target.unlink(missing_ok=True)
    else:
        write_whole(target, text)


def _output(number: float, html: str) -> NotebookNode:
    """An execute_result that nbgrader reads as `number` points."""
    # MathJax must not search for formulas in a student's words that advice quotes.
    shown = f'<div class="tex2jax_ignore mathjax_ignore">{html}</div>'
    data = {"text/plain": str(number), "text/html": shown}
    return _node(
        {
            "output_type": "execute_result",
            "execution_count": None,
            "metadata": {},
            "data": data,
        }
    )


def _banner(remarks: list[str]) -> list[NotebookNode]:
    if not remarks:
        return []
    text = "\n".join(f"- {remark}" for remark in remarks)
    cell = {
        "cell_type": "markdown",
        "id": "remarks",
        "metadata": {},
        "source": f"**About this hand-in**\n\n{text}",
    }
    return [sanitize_cell(_node(cell))]


def _node(values: dict[str, Any]) -> NotebookNode:
    node: NotebookNode = nbformat.from_dict(values)
    return node
