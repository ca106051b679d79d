"""The notebook's section about a case of the bug clinic, made from the case's file.

A lab's source says where the sections are, with a cell marked ``# %% [markdown] cases="all"``.
Tested in tests/gradekit/exercise/test_clinic.py.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gradekit.exercise.clinic import FIX, HIDDEN_TEST, SENTENCE, VISIBLE_TEST, Case, exercise_names
from gradekit.exercise.edits import source_text
from gradekit.exercise.source import Role, Source, SourceCell, refuse_strays
from gradekit.python_names import bound_by_import

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
IMPORTANCE = 5
_FOLDED = {"jupyter": {"source_hidden": True}}


def with_cases(source: Source, cases: Sequence[Case], lab: str) -> Source:
    """The source with the sections of `cases` where its cell for them is.

    Raises:
        CourseError: a name is used twice.
    """
    digits = re.search(r"\d+", lab)
    number = int(digits[0]) if digits else 1
    cells: list[SourceCell] = []
    for cell in source.cells:
        if cell.role != "cases":
            cells.append(cell)
            continue
        for place, case in enumerate(cases):
            cells += [replace(made, line=cell.line) for made in _cells(case, number, 2 * place + 1)]
    made = Source(
        source.path, tuple(replace(cell, number=n) for n, cell in enumerate(cells, start=1))
    )
    refuse_strays(made)
    return made


def _cells(case: Case, lab: int, step: int) -> Iterator[SourceCell]:
    """One case: what somebody reports, the symptom, the code, the test, the fix, the sentence."""
    assert case.shows is not None
    shows = case.shows.__name__
    find, fix = exercise_names(case.name)
    yield _cell("prose", _heading(case, lab, step) + case.complaint)
    yield _cell("code", _folded_code(case), metadata=_FOLDED)
    yield _cell("code", f"{shows}({case.broken_name})")
    yield _cell("prose", _finding(case))
    yield _cell("exercise", _test_cell(case), find)
    yield _cell("check", f'check("{find}")', find)
    yield _cell("prose", _heading(case, lab, step + 1) + _fixing(case))
    yield _cell("exercise", _fix_cell(case), fix)
    yield _cell("check", f'check("{fix}")', fix)
    yield _cell("prose", f"**Look.** {case.look.strip()}")
    yield _cell("code", f"{shows}({case.code_name})")
    yield _cell("free_text", _sentence(case), f"cause_{case.name}", points=SENTENCE)


def _cell(
    role: Role,
    text: str,
    name: str = "",
    points: float = 0,
    metadata: Mapping[str, Any] | None = None,
) -> SourceCell:
    return SourceCell(0, role, text.strip(), name, points, metadata or {})


def _heading(case: Case, lab: int, step: int) -> str:
    """The heading of one of the two steps, and the line with its points."""
    first = step % 2 == 1
    said = case.finding if first else case.fixing
    points = VISIBLE_TEST + HIDDEN_TEST if first else FIX
    return (
        f"## {lab}.{step} {case.title}: {'the test' if first else 'the fix'}\n"
        f"*{points} points, {said.minutes} minutes, difficulty {said.difficulty} of 5, "
        f"importance {IMPORTANCE} of 5*\n\n"
    )


def _finding(case: Case) -> str:
    return f"""\
{case.finding.text.strip()}

The code is in the folded cell above: `{case.broken_name}`. (Click on the bar at its left. Not all
editors fold it.) Read its docstring first; it is right. Then write `{case.test_name}(impl)`, which
raises an error, as `assert` does, if a version breaks what the docstring promises, and is silent
otherwise. It must not ask *how* a version works: `check` also tries it on a slow version that is
right, and grading on more of them. Two right versions may differ in the last digits of a number, so
compare with a tolerance (`torch.allclose`).
{_hints(case.finding.hints)}"""


def _fixing(case: Case) -> str:
    lines = "one line is" if case.most_lines == 1 else f"{case.most_lines} lines are"
    return f"""\
{case.fixing.text.strip()}

The cell below holds a copy of the code, now under the name `{case.code_name}`. Change it there:
{lines} enough. Lines are counted as Python reads them, so comments, blank lines and line breaks
cost nothing; a line that you add, remove or leave a `print` in counts. Before `check`, run your own
test on the fix: `{case.test_name}({case.code_name})`.
{_hints(case.fixing.hints)}"""


def _hints(hints: tuple[str, str]) -> str:
    titles = ("Hint 1: a question", "Hint 2: a plan")
    return "".join(
        f"\n<details><summary>{title}</summary>\n\n{text.strip()}\n</details>"
        for title, text in zip(titles, hints, strict=True)
    )


def _folded_code(case: Case) -> str:
    """The code as it was handed over, under its own name, and the function of the symptom."""
    assert case.shows is not None
    broken = re.sub(rf"\b{case.code_name}\b", case.broken_name, case.broken_text)
    symptom = source_text(case.shows)
    imports = _imports(Path(case.shows.__code__.co_filename), f"{broken}\n{symptom}")
    return "\n\n\n".join(part.strip() for part in (imports, broken, symptom) if part.strip())


def _imports(path: Path, text: str) -> str:
    """The import statements of the case's file for the names that `text` uses."""
    used = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    lines = []
    for statement in ast.parse(path.read_text("utf-8")).body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            names = [alias for alias in statement.names if bound_by_import(alias) in used]
            if names:
                kept = (
                    ast.Import(names)
                    if isinstance(statement, ast.Import)
                    else ast.ImportFrom(statement.module, names, statement.level)
                )
                lines.append(ast.unparse(kept))
    return "\n".join(lines)


def _test_cell(case: Case) -> str:
    """The test's first line and docstring, and the model answer between marks."""
    assert case.test is not None
    text = source_text(case.test)
    (node,) = ast.parse(text).body
    assert isinstance(node, ast.FunctionDef)
    lines = text.strip().splitlines()
    start = node.body[1].lineno - 1  # below the docstring
    return "\n".join(
        [
            *lines[:start],
            "    # TODO: call `impl`, and assert what must be true",
            f"    {BEGIN}",
            *lines[start:],
            f"    {END}",
        ]
    )


def _fix_cell(case: Case) -> str:
    """The code as it was handed over; the right one follows between marks."""
    lines = "line" if case.most_lines == 1 else "lines"
    return (
        f"# TODO: fix it here, by changing {case.most_lines} {lines} at most\n"
        f"{case.broken_text.strip()}\n\n\n"
        "# (end of the code)\n"
        f"{BEGIN}\n{source_text(case.right).strip()}\n{END}"
    )


def _sentence(case: Case) -> str:
    scheme = "\n".join(f"- {points}: {text}" for text, points in case.scheme.items())
    return f"""\
### {case.title}: the cause
*{SENTENCE} points, marked by a TA*

In a sentence or two: what was wrong, what did it make the code do, and why did it stay unnoticed?

<!-- BEGIN SOLUTION -->
{case.cause.strip()}
<!-- BEGIN MARK SCHEME -->
{scheme}
<!-- END MARK SCHEME -->
<!-- END SOLUTION -->"""
