"""Reads a lab's source, the text that its notebooks are built from: cells with their roles.

A source is jupytext's percent format. Text above the first ``# %%`` is a note to staff. These
marks give a cell its role:

=================================================  ==============================================
``# %% exercise="softmax"``                        the student writes here; the cell imports the
                                                   reference, or holds nbgrader's solution marks
``check("softmax")``, alone in its cell            the exercise's grade cell
``# %% [markdown] free_text="explain" points=4``   a question that a person marks
``renamed_from="softmx"``, beside a name           its name when the lab was released; points and
                                                   marks given under it stay
``# %% [markdown] cases="all"``                     the sections of the lab's cases of the bug
                                                   clinic (:mod:`.clinic_cells`)
``check()`` or ``submit()``, alone in its cell     where the student stands; handing in
=================================================  ==============================================

Tested in tests/gradekit/build/test_cell_text.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import jupytext

from attnlab.checking.visible import Step
from gradekit.errors import CourseError

Role = Literal["prose", "code", "exercise", "check", "free_text", "cases"]

_CHECK = re.compile(r'check\("(\w+)"\)')
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,49}")
_FIRST_CELL = re.compile(r"^# %%", re.MULTILINE)
_STEP = re.compile(r"^## +(?:(?P<number>\d+(?:\.\d+)*) +)?(?P<title>.+)$", re.MULTILINE)
_MINUTES = re.compile(r"^\*.*?\b(\d+) minutes?\b.*\*$", re.MULTILINE)
# The mark of an exercise or a question that had another name when the lab was released.
RENAMED = "renamed_from"
# Jupyter's own marks are copied into the notebook.
_MARKDOWN_MARKS = ("free_text", "points", "cases", RENAMED)
_JUPYTER_MARKS = ("tags", "jupyter", "slideshow")


@dataclass(frozen=True)
class SourceCell:
    """One cell of a source.

    Attributes:
        number: its position in the source, from 1.
        name: the exercise or question that it belongs to; empty for prose and plain code.
        points: of a free-text question.
        metadata: what Jupyter itself reads, such as tags.
        line: of its mark `# %%` in the file, from 1.
        renamed_from: the name that it had when the lab was first released, if that was another.
    """

    number: int
    role: Role
    text: str
    name: str
    points: float
    metadata: Mapping[str, Any]
    line: int = 0
    renamed_from: str = ""

    @property
    def is_markdown(self) -> bool:
        """Whether it is prose for people; otherwise it is code."""
        return self.role in ("prose", "free_text", "cases")


@dataclass(frozen=True)
class Source:
    """A lab's source: the file and its cells in order."""

    path: Path
    cells: tuple[SourceCell, ...]

    def of(self, role: Role) -> tuple[SourceCell, ...]:
        """The cells of one role."""
        return tuple(cell for cell in self.cells if cell.role == role)

    def step(self, exercise: str) -> Step:
        """The heading above an exercise's cell, with the minutes below it."""
        found = Step()
        for cell in self.cells:
            if cell.role == "exercise" and cell.name == exercise:
                break
            heading = _STEP.search(cell.text) if cell.is_markdown else None
            if heading:
                minutes = _MINUTES.search(cell.text)
                found = Step(
                    heading["number"] or "",
                    heading["title"].strip(),
                    int(minutes[1]) if minutes else 0,
                )
        return found

    def without(self, exercise: str) -> Source:
        """The source without the section of one exercise: from its heading to the next."""
        sections: list[list[SourceCell]] = [[]]
        for cell in self.cells:
            if cell.is_markdown and _STEP.search(cell.text):
                sections.append([])
            sections[-1].append(cell)
        kept = [s for s in sections if all(cell.name != exercise for cell in s)]
        return Source(self.path, tuple(cell for section in kept for cell in section))

    def place(self, cell: SourceCell) -> str:
        """Where a cell is, for an error message."""
        return _place(self.path, cell.number, cell.line)


def read_source(path: Path) -> Source:
    """Read a lab's source.

    Raises:
        CourseError: a mark is unknown or incomplete, an exercise has two cells or no check.
    """
    text = path.read_text("utf-8")
    first = _FIRST_CELL.search(text)
    if first is None:
        raise CourseError(f"solutions/{path.name} has no cell; start one with a line `# %%`")
    notebook = jupytext.reads(text[first.start() :], fmt="py:percent")
    lines = [n for n, line in enumerate(text.split("\n"), start=1) if line.startswith("# %%")]
    if len(lines) != len(notebook.cells):
        raise CourseError(
            f"solutions/{path.name} has a line `# %%` inside a text in quotes; indent that line"
        )
    numbered = enumerate(zip(notebook.cells, lines, strict=True), start=1)
    cells = [_cell(path, number, line, cell) for number, (cell, line) in numbered]
    kept = (cell for cell in cells if cell.text.strip() or cell.role == "cases")
    source = Source(path, tuple(kept))
    refuse_strays(source)
    return source


def _place(path: Path, number: int, line: int) -> str:
    return f"solutions/{path.name}, line {line}: cell {number}"


def _cell(path: Path, number: int, line: int, raw: Any) -> SourceCell:
    where = _place(path, number, line)
    marks = {key: value for key, value in raw.metadata.items() if key != "lines_to_next_cell"}
    known = ("exercise", RENAMED) if raw.cell_type == "code" else _MARKDOWN_MARKS
    for key in marks:
        if key not in (*known, *_JUPYTER_MARKS):
            raise CourseError(
                f"{where} has the mark {key!r}, which a {raw.cell_type} cell does not know; "
                f"it knows {', '.join((*known, *_JUPYTER_MARKS))}"
            )
    role, name = _role(where, raw, marks)
    points = marks.get("points", 0)
    if role == "free_text" and not (isinstance(points, (int, float)) and points > 0):
        raise CourseError(f"{where}: a free-text question needs its points, such as points=4")
    metadata = {key: marks[key] for key in _JUPYTER_MARKS if key in marks}
    before = _identifier(where, marks[RENAMED]) if RENAMED in marks else ""
    if before and not name:
        raise CourseError(f"{where} has {RENAMED}, but no exercise or question; remove the mark")
    return SourceCell(number, role, raw.source, name, float(points), metadata, line, before)


def _role(where: str, raw: Any, marks: Mapping[str, Any]) -> tuple[Role, str]:
    if raw.cell_type != "code":
        if "cases" in marks:
            return "cases", ""
        name = marks.get("free_text")
        return ("free_text", _identifier(where, name)) if name is not None else ("prose", "")
    if "exercise" in marks:
        return "exercise", _identifier(where, marks["exercise"])
    if match := _CHECK.fullmatch(raw.source.strip()):
        return "check", match[1]
    if raw.source.strip() != "check()" and re.search(r"^check\(", raw.source, re.MULTILINE):
        raise CourseError(f'{where}: give check("…") a cell of its own, with double quotes')
    return "code", ""


def _identifier(where: str, name: Any) -> str:
    if not (isinstance(name, str) and _NAME.fullmatch(name)):
        raise CourseError(f"{where}: {name!r} is not a name; use letters, digits and _, 50 at most")
    return name


def refuse_strays(source: Source) -> None:
    """Refuse an exercise without one cell and one check below it, and a name used twice.

    Raises:
        CourseError: there is one.
    """
    for role in ("exercise", "check", "free_text"):
        seen: dict[str, SourceCell] = {}
        for cell in source.of(role):
            if cell.name in seen:
                raise CourseError(
                    f"{source.place(cell)} is a second {role.replace('_', '-')} cell for "
                    f"{cell.name!r}, after cell {seen[cell.name].number}; keep one of them"
                )
            seen[cell.name] = cell
    written = {cell.name: cell for cell in source.of("exercise")}
    for check in source.of("check"):
        if check.name not in written or written[check.name].number > check.number:
            raise CourseError(
                f"{source.place(check)} checks {check.name!r}, but no cell above it is marked "
                f'`# %% exercise="{check.name}"`'
            )
    named = {cell.name for cell in (*source.of("exercise"), *source.of("free_text"))}
    for cell in source.cells:
        if cell.renamed_from in named:
            raise CourseError(
                f"{source.place(cell)} is renamed from {cell.renamed_from!r}, a name that the lab "
                "still has; remove one of them"
            )
    checked = {cell.name for cell in source.of("check")}
    for name, cell in written.items():
        if name not in checked:
            raise CourseError(
                f'{source.place(cell)} is the exercise {name!r}, and no cell is check("{name}"); '
                "add one below it"
            )
