"""Reads a lab's source: its cells with their roles, and the text that a notebook shows for each.

A source is jupytext's percent format. Text above the first ``# %%`` is a note to staff. These
marks give a cell its role:

=================================================  ==============================================
``# %% exercise="softmax"``                        the student writes here; the cell imports the
                                                   reference, or holds nbgrader's solution marks
``check("softmax")``, alone in its cell            the exercise's grade cell
``# %% [markdown] free_text="explain" points=4``   a question that a person marks
=================================================  ==============================================
"""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import jupytext

from gradekit.build.blanks import (
    BEGIN,
    DEFAULT_TODO,
    clear,
    definitions,
    extent,
    has_solution_marks,
    mark,
)
from gradekit.errors import BlankError, CourseError

Role = Literal["prose", "code", "exercise", "check", "free_text"]

_CHECK = re.compile(r'check\("(\w+)"\)')
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,49}")
# Remarks to our own tools, which would only puzzle a student.
_TOOL_REMARK = re.compile(r"\s*#\s*(noqa|type: ignore)\b.*$", re.MULTILINE)
_FIRST_CELL = re.compile(r"^# %%", re.MULTILINE)
# Marks that are Jupyter's own travel into the notebook as they are.
_JUPYTER_MARKS = ("tags", "jupyter", "slideshow")


@dataclass(frozen=True)
class Cell:
    """One cell of a source.

    Attributes:
        number: its place in the source, from 1.
        name: the exercise or question that it belongs to; empty for prose and plain code.
        points: of a free-text question.
        metadata: what Jupyter itself reads, such as tags.
    """

    number: int
    role: Role
    text: str
    name: str
    points: float
    metadata: Mapping[str, Any]

    @property
    def is_markdown(self) -> bool:
        """Whether it is prose for people; otherwise it is code."""
        return self.role in ("prose", "free_text")


@dataclass(frozen=True)
class Source:
    """A lab's source: the file and its cells in order."""

    path: Path
    cells: tuple[Cell, ...]

    def of(self, role: Role) -> tuple[Cell, ...]:
        """The cells of one role."""
        return tuple(cell for cell in self.cells if cell.role == role)

    def place(self, cell: Cell) -> str:
        """The words by which an error says where a cell is."""
        return f"solutions/{self.path.name}: cell {cell.number}"


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
    cells = [_cell(path, number, cell) for number, cell in enumerate(notebook.cells, start=1)]
    source = Source(path, tuple(cell for cell in cells if cell.text.strip()))
    _refuse_strays(source)
    return source


def solved_text(source: Source, cell: Cell) -> str:
    """What the solved notebook shows for `cell`: an exercise with its answer between marks.

    Raises:
        CourseError: the import names no function or class, or the answer cannot be blanked.
    """
    if cell.role != "exercise":
        return cell.text
    try:
        if has_solution_marks(cell.text):
            solved = _with_todos(cell.text)
            clear(solved)
            return solved
        return _inlined(source, cell)
    except BlankError as error:
        raise CourseError(f"{source.place(cell)}: {error}") from error


def _cell(path: Path, number: int, raw: Any) -> Cell:
    where = f"solutions/{path.name}: cell {number}"
    marks = {key: value for key, value in raw.metadata.items() if key != "lines_to_next_cell"}
    known = ("exercise",) if raw.cell_type == "code" else ("free_text", "points")
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
    return Cell(number, role, raw.source, name, float(points), metadata)


def _role(where: str, raw: Any, marks: Mapping[str, Any]) -> tuple[Role, str]:
    if raw.cell_type != "code":
        name = marks.get("free_text")
        return ("free_text", _identifier(where, name)) if name is not None else ("prose", "")
    if "exercise" in marks:
        return "exercise", _identifier(where, marks["exercise"])
    if match := _CHECK.fullmatch(raw.source.strip()):
        return "check", match[1]
    if re.search(r"^check\(", raw.source, re.MULTILINE):
        raise CourseError(f'{where}: give check("…") a cell of its own, with double quotes')
    return "code", ""


def _identifier(where: str, name: Any) -> str:
    if not (isinstance(name, str) and _NAME.fullmatch(name)):
        raise CourseError(f"{where}: {name!r} is no name; use letters, digits and _, 50 at most")
    return name


def _refuse_strays(source: Source) -> None:
    """Every exercise has one cell and one check below it; names are unique."""
    for role in ("exercise", "check", "free_text"):
        seen: dict[str, Cell] = {}
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
    checked = {cell.name for cell in source.of("check")}
    for name, cell in written.items():
        if name not in checked:
            raise CourseError(
                f'{source.place(cell)} is the exercise {name!r}, and no cell is check("{name}"); '
                "add one below it"
            )


def _with_todos(text: str) -> str:
    """Solution marks of the source as they are; a default TODO above those that have no comment."""
    lines: list[str] = []
    for line in text.split("\n"):
        commented = bool(lines) and lines[-1].lstrip().startswith("#")
        if "BEGIN SOLUTION" in line and not commented:
            indent = line[: len(line) - len(line.lstrip())]
            lines.append(f"{indent}# TODO: {DEFAULT_TODO}")
        lines.append(line)
    return "\n".join(lines)


def imported(source: Source, cell: Cell) -> tuple[str, tuple[str, ...]]:
    """The module and the names that an exercise cell imports.

    Raises:
        CourseError: the cell is not one line `from module import name`.
    """
    statements = _parse(source, cell).body
    match statements:
        case [ast.ImportFrom(module=str(module), names=aliases, level=0)]:
            if all(alias.asname is None and alias.name != "*" for alias in aliases):
                return module, tuple(alias.name for alias in aliases)
    raise CourseError(
        f"{source.place(cell)}: an exercise cell is one line such as `from attnlab.softmax import "
        f"{cell.name}`, or code with `{BEGIN}` in it"
    )


def _inlined(source: Source, cell: Cell) -> str:
    module, names = imported(source, cell)
    text = _module_text(source, cell, module)
    lines = text.splitlines()
    found = {node.name: node for node in definitions(text)}
    for name in names:
        if name not in found:
            raise CourseError(f"{source.place(cell)}: {module} defines no function or class {name}")
    wanted = [found[name] for name in names]
    parts = [_TOOL_REMARK.sub("", "\n".join(lines[slice(*extent(node, lines))])) for node in wanted]
    imports = list(_imports(source, cell, module, text, wanted))
    return "\n\n\n".join([*(["\n".join(imports)] if imports else []), *map(mark, parts)])


def _module_text(source: Source, cell: Cell, module: str) -> str:
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        spec = None
    if spec is None or spec.origin is None:
        raise CourseError(f"{source.place(cell)}: there is no module {module}")
    return Path(spec.origin).read_text("utf-8")


def _imports(
    source: Source, cell: Cell, module: str, text: str, wanted: Sequence[ast.stmt]
) -> Iterator[str]:
    """Import lines for what the definitions need and the notebook does not have at this point."""
    own = {getattr(node, "name", "") for node in wanted}
    used = {node.id for item in wanted for node in ast.walk(item) if isinstance(node, ast.Name)}
    later = {
        name: other
        for other in source.of("exercise")
        if other.number > cell.number and not has_solution_marks(other.text)
        for name in imported(source, other)[1]
    }
    bound = _bindings(ast.parse(text))
    from_modules: dict[str, list[str]] = {}
    for name in sorted((used & bound.keys()) - own - _names_above(source, cell)):
        if name in later:
            raise CourseError(
                f"{source.place(cell)} uses {name}, which is the exercise of cell "
                f"{later[name].number}; put that one first"
            )
        statement = bound[name]
        if isinstance(statement, ast.Import):
            (alias,) = (a for a in statement.names if _bound_name(a) == name)
            yield ast.unparse(ast.Import([alias]))
        elif isinstance(statement, ast.ImportFrom):
            (alias,) = (a for a in statement.names if _bound_name(a) == name)
            from_modules.setdefault(statement.module or "", []).append(ast.unparse(alias))
        else:
            from_modules.setdefault(module, []).append(name)
    for origin, aliases in from_modules.items():
        yield f"from {origin} import {', '.join(aliases)}"


def _names_above(source: Source, cell: Cell) -> set[str]:
    """What the code cells above `cell` define or import."""
    return {
        name
        for other in source.cells
        if other.number < cell.number and not other.is_markdown
        for name in _bindings(_parse(source, other))
    }


def _parse(source: Source, cell: Cell) -> ast.Module:
    """A cell's syntax tree; IPython's own lines (%magic, !shell) are no Python and are left out."""
    lines = ["" if line.lstrip().startswith(("%", "!")) else line for line in cell.text.split("\n")]
    try:
        return ast.parse("\n".join(lines))
    except SyntaxError as error:
        raise CourseError(f"{source.place(cell)}, line {error.lineno}: {error.msg}") from error


def _bindings(tree: ast.Module) -> dict[str, ast.stmt]:
    """The statements at the top of a module by the names they bind."""
    bound: dict[str, ast.stmt] = {}
    for statement in tree.body:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                bound[statement.name] = statement
            case ast.Import() | ast.ImportFrom():
                if getattr(statement, "module", None) != "__future__":
                    bound.update({_bound_name(alias): statement for alias in statement.names})
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                bound.update(_bindings(ast.Module(statement.body, [])))
            case ast.Assign() | ast.AnnAssign():
                for node in ast.walk(statement):
                    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                        bound[node.id] = statement
    return bound


def _bound_name(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]
