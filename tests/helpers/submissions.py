"""A tiny released notebook, hand-ins made from it, and results as a judge would give them."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat

from gradekit.results.records import CheckResult, ExerciseResult
from gradekit.submissions.released import Released

LAB = "lab01"
NAME = "lab01_softmax"
STUB = 'def softmax(x, dim=-1):\n    """Scores to a distribution."""\n    raise NotImplementedError'
ANSWER = "def softmax(x, dim=-1):\n    return (x - x.amax(dim, True)).softmax(dim)"
ENTROPY_STUB = "def entropy(p):\n    raise NotImplementedError"
PLACEHOLDER = "*Write your answer here, in place of this line.*"
PROMPT = "## In your own words\n\nWhy is the maximum subtracted?"

Cells = list[dict[str, Any]]


def code(source: str, **nbgrader: Any) -> dict[str, Any]:
    own = {"cell_type": "code", "outputs": [], "execution_count": None}
    return {**markdown(source, **nbgrader), **own}


def markdown(source: str, **nbgrader: Any) -> dict[str, Any]:
    metadata = {"nbgrader": {"schema_version": 3, **nbgrader}} if nbgrader else {}
    return {"cell_type": "markdown", "source": source, "metadata": metadata}


def nbgrader(
    grade_id: str, *, points: float | None = None, solution: bool = False
) -> dict[str, Any]:
    grade = points is not None
    kind = {"grade": grade, "solution": solution, "locked": grade and not solution, "task": False}
    return {"grade_id": grade_id, **kind, **({"points": points} if grade else {})}


def released_cells() -> Cells:
    return [
        markdown("# Softmax\n\nFrom scores to a distribution."),
        code("import torch\n\nfrom attnlab import check"),
        markdown("## 1.1 Softmax"),
        code(STUB, **nbgrader("softmax", solution=True)),
        code('check("softmax")', **nbgrader("check_softmax", points=8)),
        markdown("## 1.2 Entropy"),
        code(ENTROPY_STUB, **nbgrader("entropy", solution=True)),
        code('check("entropy")', **nbgrader("check_entropy", points=4)),
        markdown(PROMPT),
        markdown(PLACEHOLDER, **nbgrader("explain", points=4, solution=True)),
    ]


def as_bytes(cells: Cells, **top: Any) -> bytes:
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    numbered = [{"id": f"c{number}", **cell} for number, cell in enumerate(cells)]
    frame = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}}
    return json.dumps({**frame, "cells": numbered, **top}).encode()


def released(folder: Path) -> Released:
    from nbgrader.preprocessors import ComputeChecksums

    folder.mkdir(parents=True, exist_ok=True)
    notebook = nbformat.from_dict(json.loads(as_bytes(released_cells())))
    notebook, _ = ComputeChecksums().preprocess(notebook, {})
    path = folder / f"{NAME}.ipynb"
    path.write_text(json.dumps(notebook), "utf-8")
    return Released.read(path)


def done(change: Callable[[Cells], Any] | None = None) -> Cells:
    """A right answer to the first exercise and to the question, then `change` in place."""
    cells = copy.deepcopy(released_cells())
    cells[3]["source"] = ANSWER
    cells[9]["source"] = "It keeps the exponentials finite."
    if change:
        change(cells)
    return cells


def hand_in(root: Path, student: str, files: dict[str, bytes] | bytes, stamp: str = "") -> Path:
    folder = root / "submitted" / student / LAB
    folder.mkdir(parents=True)
    given = files if isinstance(files, dict) else {f"{NAME}.ipynb": files}
    for name, data in given.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    if stamp:
        (folder / "timestamp.txt").write_text(stamp)
    return folder


def result(exercise: str, earned: float, points: float, *advice: str) -> ExerciseResult:
    half = points / 2
    checks = (
        CheckResult("shape", "Keeps the shape.", False, min(earned, half), half, earned >= half),
        CheckResult(
            "large",
            "Stays finite for large scores.",
            True,
            max(0.0, earned - half),
            half,
            earned >= points,
        ),
    )
    return ExerciseResult(exercise, exercise.title(), checks, advice, (), 0.1)
