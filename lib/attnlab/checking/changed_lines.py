"""How many lines of a definition somebody changed, and the judge of a fix that should be small.

Two texts are compared as Python prints them, without docstrings and annotations. So comments, blank
lines, quotes and line breaks do not count. The number is the smallest one: the fewest lines to
change, add or take out. A printed line of more than 160 characters counts as several, so
that a whole program in one expression is not one line.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from types import CodeType, FunctionType
from typing import Any

from attnlab.checking.judges import Close, Difference

WIDTH = 160
# The entry of an observation that holds the number.
CHANGED = "changed lines"


def changed_lines(before: str, after: str) -> int:
    """The fewest lines to change, add or take out that make `before` the definition `after`.

    Args:
        before, after: texts of one function or class each.

    Raises:
        SyntaxError: one of them is not Python.
    """
    old, new = _printed(before), _printed(after)
    # row[j]: the cost of making the old lines read so far the first j new ones.
    row = list(accumulate(map(_weight, new), initial=0))
    for line in old:
        above, row = row, [row[0] + _weight(line)]
        for j, other in enumerate(new, start=1):
            kept = above[j - 1] + (0 if line == other else max(_weight(line), _weight(other)))
            row.append(min(kept, above[j] + _weight(line), row[j - 1] + _weight(other)))
    return row[-1]


def definition_text(item: Any) -> str:
    """The text of a function or class of a notebook, a file, or made from a text.

    Raises:
        LookupError: it is not known.
    """
    for code in _codes(item):
        text = "".join(linecache.getlines(code.co_filename))
        if found := last_definition(text, item.__name__):
            return found
    raise LookupError(
        f"the text of {item.__name__} is not known; define it in a cell, with code of its own"
    )


def last_definition(text: str, name: str) -> str:
    """The last function or class called `name` at the top of `text`; empty if there is none."""
    try:
        statements = ast.parse(text).body
    except SyntaxError:
        return ""
    found = [
        ast.unparse(statement)
        for statement in statements
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)) and statement.name == name
    ]
    return found[-1] if found else ""


@dataclass(frozen=True)
class FewChanges(Close):
    """Equal, except that the number of changed lines may be any from 1 to `most`.

    The observation is a dictionary with that number as its entry :data:`CHANGED`.

    Attributes:
        before: the text that was given to be changed.
        name: of the definition.
        most: lines that may be changed.
    """

    before: str = ""
    name: str = ""
    most: int = 1

    def compare(self, expected: Any, seen: Any) -> Difference | None:
        """What else differs, or that there are too many changes."""
        if not isinstance(seen, dict) or not isinstance(expected, dict):
            return super().compare(expected, seen)
        found = super().compare(_without_count(expected), _without_count(seen))
        if found is not None:
            return found
        count = seen.get(CHANGED)
        if type(count) is int and 1 <= count <= self.most:
            return None
        enough = f"{self.most} {'is' if self.most == 1 else 'are'} enough"
        known = type(count) is int and count > 0
        what = f"changes {count} lines; {enough}" if known else "does not change the given code"
        return Difference(
            "changes",
            expected=self.most,
            seen=count,
            detail=f"Your fix {what}. Comments and line breaks do not count. Which of your changes "
            "does the mistake need?",
        )


def _without_count(seen: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in seen.items() if key != CHANGED}


def _codes(item: Any) -> Iterator[CodeType]:
    """The code of a function, or of a class's methods, below decorators."""
    for part in vars(item).values() if isinstance(item, type) else (item,):
        while not isinstance(part, type) and hasattr(part, "__wrapped__"):
            part = part.__wrapped__
        if isinstance(part, FunctionType):
            yield part.__code__


def _printed(text: str) -> list[str]:
    tree = _Bare().visit(ast.parse(text))
    return ast.unparse(tree).splitlines()


def _weight(line: str) -> int:
    return 1 + len(line.strip()) // WIDTH


class _Bare(ast.NodeTransformer):
    """Takes out docstrings and annotations."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for field in ("annotation", "returns"):
            if isinstance(node, (ast.arg, ast.FunctionDef)) and hasattr(node, field):
                setattr(node, field, None)
        super().generic_visit(node)
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module)) and _has_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
        return node


def _has_docstring(node: ast.FunctionDef | ast.ClassDef | ast.Module) -> bool:
    match node.body[:1]:
        case [ast.Expr(value=ast.Constant(value=str()))]:
            return True
    return False
