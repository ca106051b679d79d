"""Writes functions of the notebook to a file, with everything that they use.

So another program can use them: ``python -m attnlab.train numbers --parts my_parts.py``.
"""

from __future__ import annotations

import ast
import builtins
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from attnlab.checking.render import notice
from attnlab.notebook.check import GRADING_VARIABLE

HEAD = (
    '"""Written by the notebook of lab 8: its functions, for `python -m attnlab.train --parts`."""'
)
Definition = ast.FunctionDef | ast.ClassDef


@dataclass(frozen=True)
class _Statement:
    """A statement at the top of a cell, and where it comes among all of them."""

    place: int
    node: ast.stmt
    text: str


def save_parts(name: str, wanted: Sequence[str]) -> Path | None:
    """Write the newest definitions of some functions and classes to a file next to the notebook.

    What they use comes along: other definitions of the notebook, imports, and constants.

    Args:
        name: of the file; it is overwritten.
        wanted: the names.

    Returns:
        The file; None, after a notice, if one of them is not defined or not written yet, and
        while grading.
    """
    if os.environ.get(GRADING_VARIABLE) == "1":
        return None
    bound = _bound(_cells())
    missing = [one for one in wanted if one not in bound or _is_blank(bound[one].node)]
    if missing:
        _show(f"Nothing to save yet: `{missing[0]}` is not written.")
        return None
    path = Path(name)
    path.write_text(_text(bound, wanted), "utf-8")
    return path


def _cells() -> list[str]:
    """The code that has been run: a notebook's cells, or the script."""
    try:
        from IPython.core.getipython import get_ipython

        shell = get_ipython()
    except ImportError:
        shell = None
    if shell is not None:
        return [str(cell) for cell in shell.user_ns.get("In", [])]
    file = getattr(sys.modules["__main__"], "__file__", None)
    return [Path(file).read_text("utf-8")] if file else []


def _bound(cells: Sequence[str]) -> dict[str, _Statement]:
    """The last statement that binds each name, of those that only define."""
    found: dict[str, _Statement] = {}
    place = 0
    for cell in cells:
        try:
            body = ast.parse(cell).body
        except SyntaxError:
            continue  # the cell did not run
        lines = cell.splitlines()
        for node in body:
            place += 1
            decorators = node.decorator_list if isinstance(node, Definition) else []
            first = min([node.lineno, *(one.lineno for one in decorators)])
            text = "\n".join(lines[first - 1 : node.end_lineno])
            for name in _names_of(node):
                found[name] = _Statement(place, node, text)
    return found


def _names_of(node: ast.stmt) -> Iterator[str]:
    """The names that a definition, an import or a constant binds."""
    match node:
        case ast.FunctionDef() | ast.ClassDef():
            yield node.name
        case ast.Import() | ast.ImportFrom():
            for alias in node.names:
                yield alias.asname or alias.name.partition(".")[0]
        case ast.Assign() if not any(isinstance(part, ast.Call) for part in ast.walk(node.value)):
            for target in node.targets:
                for part in ast.walk(target):
                    if isinstance(part, ast.Name):
                        yield part.id
        case _:
            return


def _text(bound: dict[str, _Statement], wanted: Sequence[str]) -> str:
    """The statements that bind the names, and those that these use, in the notebook's order."""
    needed: dict[str, _Statement] = {}
    todo = list(wanted)
    while todo:
        name = todo.pop()
        if name in needed or name not in bound or hasattr(builtins, name):
            continue
        needed[name] = bound[name]
        todo += [part.id for part in ast.walk(bound[name].node) if isinstance(part, ast.Name)]
    places = {statement.place: statement for statement in needed.values()}
    ordered = [places[place] for place in sorted(places)]
    imports = [one.text for one in ordered if isinstance(one.node, ast.Import | ast.ImportFrom)]
    rest = [one.text for one in ordered if not isinstance(one.node, ast.Import | ast.ImportFrom)]
    start = [HEAD, "", "from __future__ import annotations", "", *imports]
    return "\n".join(start) + "".join(f"\n\n\n{text}" for text in rest) + "\n"


def _is_blank(node: ast.stmt) -> bool:
    """Whether a definition still holds a placeholder: a plain `raise NotImplementedError`."""
    return any(
        isinstance(part, ast.Raise)
        and isinstance(part.exc, ast.Name)
        and part.exc.id == "NotImplementedError"
        for part in ast.walk(node)
    )


def _show(sentence: str) -> None:
    from IPython.display import display

    shown = notice(sentence)
    display({"text/plain": shown.text(), "text/html": shown.html()}, raw=True)
