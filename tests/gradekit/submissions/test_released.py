"""The released notebook's cells that nbgrader knows by their ids."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest

from gradekit.submissions.released import Released, TargetCell


def released(*cells: dict[str, Any], names: dict[str, tuple[str, ...]] | None = None) -> Released:
    whole = {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return Released("lab01_tiny", nbformat.from_dict(whole), names or {})


def cell(source: str, kind: str = "code", **nbgrader: Any) -> dict[str, Any]:
    metadata = {"nbgrader": nbgrader} if nbgrader else {}
    return {"cell_type": kind, "source": source, "metadata": metadata, "id": "x"}


HEADING = cell("## Softmax\n\nWhy?", "markdown")
SOLUTION = cell("def softmax(x):\n    ...", grade_id="softmax", solution=True)
TEST = cell('check("softmax")', grade_id="check_softmax", grade=True, points=14)
ANSWER = cell("Your answer", "markdown", grade_id="why", grade=True, solution=True, points=2)
LOCKED = cell("import torch", grade_id="setup", locked=True)


def test_each_kind_of_cell_is_a_target_with_its_points_and_its_heading() -> None:
    notebook = released(LOCKED, HEADING, SOLUTION, TEST, ANSWER)
    found = [(t.grade_id, t.kind, t.points, t.heading) for t in notebook.targets]
    assert found == [
        ("setup", "locked", 0, ""),
        ("softmax", "solution", 0, "Softmax"),
        ("check_softmax", "test", 14, "Softmax"),
        ("why", "answer", 2, "Softmax"),
    ]
    assert [t.exercise for t in notebook.tests] == ["softmax"]
    assert [t.prompt for t in notebook.answers] == [HEADING["source"]]


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("x = 1\ndef f(): ...\nclass C: ...", ("f", "C")),
        ("import torch\na = b = 1", ("a", "b")),
        ("def broken(", ()),
    ],
)
def test_a_solution_cell_defines_its_functions_else_what_it_assigns(
    source: str, names: tuple[str, ...]
) -> None:
    (target,) = released(cell(source, grade_id="step", solution=True)).targets
    assert target.names == names


def test_the_exercises_own_names_come_first() -> None:
    (target,) = released(SOLUTION, names={"softmax": ("softmax", "log_softmax")}).targets
    assert target.names == ("softmax", "log_softmax")


def test_own_text_is_without_the_question_and_the_placeholder() -> None:
    question = nbformat.from_dict(cell("**Why?**\n\n*Write your answer here*", "markdown"))
    target = TargetCell("why", "answer", question)
    assert target.own_text("**Why?**\n\nBecause.\n") == "Because."
    assert not target.is_new("**Why?**\n\n*Write your answer here*\n")
