"""Blanks a definition: takes the answer out and leaves a TODO for the student.

By default the whole body of a function is taken out (its signature and docstring stay), and in a
class the body of every method. With ``# blank: what to do here`` … ``# end blank`` in the reference
only the lines between are; the words become the student's TODO.

The solved notebook has the answer between nbgrader's own solution marks, so nbgrader's release step
and :func:`clear` produce the same text. Tested in tests/gradekit/build/test_cell_text.py.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from gradekit.errors import BlankError

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
# The text that replaces an answer; nbgrader_config.py sets the same.
CODE_STUB = "raise NotImplementedError"
DEFAULT_TODO = "write your code here"

_OPEN = re.compile(r"#\s*blank(?::\s*(?P<words>.*?))?\s*$")
_CLOSE = re.compile(r"#\s*end blank\s*$")

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True)
class _Region:
    """Lines of an answer, counted from 0: the first, the one after the last, the TODO's words."""

    start: int
    stop: int
    words: str


def mark(definition: str) -> str:
    """The text of one function or class with nbgrader's solution marks around the answer.

    Raises:
        BlankError: it has no body to take out, or a blank mark has no partner.
    """
    lines = definition.splitlines()
    (node,) = ast.parse(definition).body
    if not isinstance(node, Definition):
        raise BlankError("only a function or a class can be blanked")
    regions = _marked_regions(node.name, definition) or list(_bodies(node, lines))
    if not regions:
        raise BlankError(f"{node.name} has no body to blank; write one below its docstring")
    for region in reversed(regions):
        answer = [line for line in lines[region.start : region.stop] if not _is_mark(line)]
        indent = _indent(next(line for line in answer if line.strip()))
        lines[region.start : region.stop] = [
            f"{indent}# TODO: {region.words or DEFAULT_TODO}",
            f"{indent}{BEGIN}",
            *answer,
            f"{indent}{END}",
        ]
    return "\n".join(lines)


def clear(solved: str) -> str:
    """A solved cell as nbgrader's release step leaves it: each answer replaced by the stub.

    At the top of a cell there is no stub, so that a blank cell runs without an error.

    Raises:
        BlankError: a solution mark has no partner.
    """
    kept: list[str] = []
    inside = False
    for line in solved.split("\n"):
        if "BEGIN SOLUTION" in line and not inside:
            inside = True
            if _indent(line):
                kept.append(_indent(line) + CODE_STUB)
        elif "END SOLUTION" in line and inside:
            inside = False
        elif "BEGIN SOLUTION" in line or "END SOLUTION" in line:
            raise BlankError(f"the mark {line.strip()!r} has no partner")
        elif not inside:
            kept.append(line)
    if inside:
        raise BlankError(f"{BEGIN} has no {END}")
    return "\n".join(kept)


def blank_module(text: str, names: Collection[str]) -> str:
    """A module's text with the named definitions blanked, and no blank mark left anywhere.

    Raises:
        BlankError: the module does not define one of the names, or cannot blank it.
    """
    lines = text.splitlines()
    found = {node.name: extent(node, lines) for node in definitions(text)}
    for name in names:
        if name not in found:
            raise BlankError(f"no def or class {name} at the top of the module")
    for name in sorted(names, key=lambda name: found[name], reverse=True):
        start, stop = found[name]
        lines[start:stop] = clear(mark("\n".join(lines[start:stop]))).split("\n")
    return "\n".join(without_marks(lines)) + "\n"


def definitions(text: str) -> list[Definition]:
    """The functions and classes at the top of a module."""
    return [node for node in ast.parse(text).body if isinstance(node, Definition)]


def extent(node: Definition, lines: Sequence[str]) -> tuple[int, int]:
    """The lines of a definition: decorators first, comments that end its body included.

    Returns:
        The first line, counted from 0, and the one after the last.
    """
    start = min([node.lineno, *(item.lineno for item in node.decorator_list)]) - 1
    stop = end = node.end_lineno or node.lineno
    while end < len(lines):
        line = lines[end]
        if line.strip() and not (line.lstrip().startswith("#") and _depth(line) > node.col_offset):
            break
        end += 1
        stop = end if line.strip() else stop
    return start, stop


def has_solution_marks(text: str) -> bool:
    """Whether a cell itself marks its answer."""
    return "BEGIN SOLUTION" in text


def without_marks(lines: Sequence[str]) -> list[str]:
    """The lines without the blank marks among them."""
    return [line for line in lines if not _is_mark(line)]


def _marked_regions(name: str, definition: str) -> list[_Region]:
    regions: list[_Region] = []
    opened: tuple[int, str] | None = None
    for number, comment in _comments(definition):
        if _CLOSE.match(comment):
            if opened is None:
                raise BlankError(f"{name}: `# end blank` without a `# blank: …` above it")
            if opened[0] + 1 == number:
                raise BlankError(f"{name}: there is nothing between `# blank` and `# end blank`")
            regions.append(_Region(opened[0], number + 1, opened[1]))
            opened = None
        elif match := _OPEN.match(comment):
            if opened is not None:
                raise BlankError(f"{name}: `{comment}` inside another blank; end that one first")
            opened = (number, match["words"] or "")
    if opened is not None:
        raise BlankError(f"{name}: `# blank: {opened[1]}` has no `# end blank` below it")
    return regions


def _comments(text: str) -> Iterator[tuple[int, str]]:
    """Comments that have a line of their own, with its number from 0."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not token.line[: token.start[1]].strip():
            yield token.start[0] - 1, token.string


def _bodies(node: Definition, lines: Sequence[str]) -> Iterator[_Region]:
    """The whole bodies of a function, or of a class's methods, below their docstrings."""
    if isinstance(node, ast.ClassDef):
        for item in node.body:
            if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield from _bodies(item, lines)
        return
    first, *rest = node.body
    if ast.get_docstring(node, clean=False) is not None:
        if not rest:
            return
        start = first.end_lineno or first.lineno
    else:
        start = _below_signature(node, lines)
    for statement in node.body[:2]:
        if lines[statement.lineno - 1][: statement.col_offset].strip():
            raise BlankError(f"{node.name}: write its body on lines of its own")
    while not lines[start].strip():
        start += 1
    yield _Region(start, extent(node, lines)[1], "")


def _below_signature(node: ast.FunctionDef | ast.AsyncFunctionDef, lines: Sequence[str]) -> int:
    """The line, from 0, below the signature; comments above the first statement are answer."""
    start = node.body[0].lineno - 1
    while start > node.lineno and (
        not lines[start - 1].strip() or lines[start - 1].lstrip().startswith("#")
    ):
        start -= 1
    return start


def _is_mark(line: str) -> bool:
    text = line.strip()
    return bool(_OPEN.match(text) or _CLOSE.match(text))


def _indent(line: str) -> str:
    return line[: _depth(line)]


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())
