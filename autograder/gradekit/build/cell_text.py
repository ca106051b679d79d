"""The text that the solved notebook shows for a cell: an exercise with its answer between marks.

An exercise cell of the source imports the reference; the notebook shows the reference's own text,
with import lines for the names that the notebook does not have yet. Tested in
tests/gradekit/build/test_cell_text.py.
"""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

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
from gradekit.exercise.source import Source, SourceCell
from gradekit.python_names import bound_by_import, names_bound_by

# Remarks for our own tools, which would confuse a student.
_TOOL_REMARK = re.compile(r"\s*#\s*(noqa|type: ignore|fmt: skip)\b.*$", re.MULTILINE)


def solved_text(source: Source, cell: SourceCell) -> str:
    """The text of `cell` in the solved notebook: an exercise with its answer between marks.

    Raises:
        CourseError: the import names no function or class, or the answer cannot be blanked.
    """
    if cell.is_markdown:
        return cell.text
    if cell.role != "exercise":
        return _TOOL_REMARK.sub("", cell.text)
    try:
        if has_solution_marks(cell.text):
            solved = _with_todos(cell.text)
            clear(solved)
            return solved
        return _inlined(source, cell)
    except BlankError as error:
        raise CourseError(f"{source.place(cell)}: {error}") from error


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


def imported(source: Source, cell: SourceCell) -> tuple[str, tuple[str, ...]]:
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


def _inlined(source: Source, cell: SourceCell) -> str:
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


def _module_text(source: Source, cell: SourceCell, module: str) -> str:
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        spec = None
    if spec is None or spec.origin is None:
        raise CourseError(f"{source.place(cell)}: there is no module {module}")
    return Path(spec.origin).read_text("utf-8")


def _imports(
    source: Source, cell: SourceCell, module: str, text: str, wanted: Sequence[ast.stmt]
) -> Iterator[str]:
    """Import lines for names that the definitions need and no cell above provides."""
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
            (alias,) = (a for a in statement.names if bound_by_import(a) == name)
            yield ast.unparse(ast.Import([alias]))
        elif isinstance(statement, ast.ImportFrom):
            (alias,) = (a for a in statement.names if bound_by_import(a) == name)
            from_modules.setdefault(statement.module or "", []).append(ast.unparse(alias))
        else:
            from_modules.setdefault(module, []).append(name)
    for origin, aliases in from_modules.items():
        yield f"from {origin} import {', '.join(aliases)}"


def _names_above(source: Source, cell: SourceCell) -> set[str]:
    """The names that the code cells above `cell` define or import."""
    return {
        name
        for other in source.cells
        if other.number < cell.number and not other.is_markdown
        for name in _bindings(_parse(source, other))
    }


def _parse(source: Source, cell: SourceCell) -> ast.Module:
    """A cell's syntax tree; IPython's own lines (%magic, !shell) are left out."""
    lines = ["" if line.lstrip().startswith(("%", "!")) else line for line in cell.text.split("\n")]
    try:
        return ast.parse("\n".join(lines))
    except SyntaxError as error:
        line = cell.line + (error.lineno or 0)
        raise CourseError(
            f"solutions/{source.path.name}, line {line}: this is not Python ({error.msg}); correct "
            "the line"
        ) from error


def _bindings(tree: ast.Module) -> dict[str, ast.stmt]:
    """The statements at the top of a module by the names they bind."""
    bound: dict[str, ast.stmt] = {}
    for statement in tree.body:
        match statement:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                bound.update(_bindings(ast.Module(statement.body, [])))
            case _:
                bound.update(dict.fromkeys(names_bound_by(statement), statement))
    return bound
