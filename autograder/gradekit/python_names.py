"""The names that Python code binds (parsed, or text that may not even parse), and those it reads.

Students' code is parsed by :func:`parsed`, which no text can make take all memory.

Tested in tests/gradekit/test_python_names.py.
"""

from __future__ import annotations

import ast
import dis
import re
import warnings
from collections.abc import Iterator
from types import CodeType

_MOST_CODE = 2**18
_LOAD_GLOBAL, _EXTENDED_ARG = dis.opmap["LOAD_GLOBAL"], dis.EXTENDED_ARG
_WORD = re.compile(r"\w+")
_BINDING = re.compile(
    r"^(?:(?:async +def|def|class)[ \t]+(?P<defined>\w++)|"
    r"(?P<assigned>\w++)[ \t]*+(?::[^=\n]++)?=(?!=)|"
    r"(?:from[ \t]+[\w.]++[ \t]+)?import (?P<imported>[^\n]{1,400}))",
    re.MULTILINE,
)
# Python's parser joins the parts of `import a.b.c` one by one and keeps all that it had joined: one
# line of 160 kB takes 7 GB. Parts may have spaces around them and be on several lines.
_MOST_PARTS = 100
_SPACE = r"(?:[ \t\f]|\\\r?\n|\\\r)*+"
_LONG_DOTTED_NAME = re.compile(rf"(?:\.{_SPACE}[^\s!-/:-@\[-^`{{-~]++{_SPACE}){{{_MOST_PARTS}}}")

# The time that Python 3.11 takes for an f-string grows with the square of its fields: 16 s for half
# a megabyte of them.
_MOST_FIELDS = 2000
_F_STRING = re.compile(r"\b[rR]?[fF][rR]?[\"']")


def parsed(text: str) -> ast.Module:
    """The statements of a student's text, without warnings about them.

    Its length must be limited.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: it is not Python, is nested too
            deeply, or has a dotted name of more parts, or f-strings of more fields, than any
            program.
    """
    if _LONG_DOTTED_NAME.search(text):
        raise SyntaxError("a dotted name of too many parts")
    if text.count("{") > _MOST_FIELDS and _F_STRING.search(text):
        raise SyntaxError("f-strings of too many fields")
    with warnings.catch_warnings(action="ignore"):  # of strings such as "\d"
        return ast.parse(text)


def names_bound_by(statement: ast.stmt) -> tuple[str, ...]:
    """The names that one statement binds in its own scope, in order.

    Definitions, imports (``from __future__`` aside) and assignments count; a block (``if``,
    ``for``, ``with``, ``try``) gives nothing, whatever it contains.
    """
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return (statement.name,)
        case ast.ImportFrom(module="__future__"):
            return ()
        case ast.Import() | ast.ImportFrom():
            return tuple(bound_by_import(alias) for alias in statement.names)
        case ast.Assign(targets=targets):
            return tuple(name for target in targets for name in _stored(target))
        case ast.AnnAssign(target=target):
            return tuple(_stored(target))
        case _:
            return ()


def names_bound_in(text: str) -> frozenset[str]:
    """The names that a text, which need not be valid Python, binds at the start of its lines.

    Only the beginning of a very long text is searched, so that no submission can keep the grader
    busy.
    """
    found: set[str] = set()
    for names in _BINDING.finditer(text, 0, _MOST_CODE):
        found.update(_WORD.findall(names["imported"] or names["defined"] or names["assigned"]))
    return frozenset(found)


def global_names_read_by(code: CodeType) -> Iterator[str]:
    """The names that functions in `code` look up outside of all functions.

    It reads the instructions themselves: :func:`dis.get_instructions` also describes each of them,
    which took half of the time of loading a lab with its hundreds of known mistakes.
    """
    more = 0
    for operation, argument in zip(code.co_code[::2], code.co_code[1::2], strict=True):
        number = more | argument
        if operation == _LOAD_GLOBAL:
            yield code.co_names[number >> 1]  # the lowest bit is a flag
        more = number << 8 if operation == _EXTENDED_ARG else 0
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from global_names_read_by(constant)


def _stored(target: ast.expr) -> list[str]:
    nodes = ast.walk(target)
    return [node.id for node in nodes if isinstance(node, ast.Name) and _is_stored(node)]


def _is_stored(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def bound_by_import(alias: ast.alias) -> str:
    """The name that one part of an import statement binds."""
    return alias.asname or alias.name.partition(".")[0]
