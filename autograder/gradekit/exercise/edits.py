"""Definitions with another text: known mistakes written as edits, and mutants.

A function or class made here keeps its text beside it, because there is no file to read it from;
:func:`source_text` finds the text of either kind.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import re
import sys
import textwrap
from collections.abc import Callable, Mapping
from types import CodeType
from typing import Any
from zlib import crc32

from gradekit.errors import ExerciseError
from gradekit.python_names import global_names_read_by

_TEXT = "_text_of_this_definition"
_KIT = re.compile(r"\b(exercise|case)\.")


def is_the_kits(decorator: ast.expr) -> bool:
    """Whether a decorator is one of an exercise or of a clinic's case, and so no part of a text.

    It is known by its name; :mod:`.loader` refuses an exercise or a case with another one.
    """
    return _KIT.search(ast.unparse(decorator)) is not None


def is_made_from_text(definition: Any) -> bool:
    """Whether :func:`definition_from` made it, so that its text is in no file."""
    return _TEXT in vars(definition)


def source_text(definition: Any) -> str:
    """The text of a module-level function or class, without the decorators of an exercise."""
    if is_made_from_text(definition):
        return str(vars(definition)[_TEXT])
    lines = textwrap.dedent(inspect.getsource(definition)).splitlines()
    (node,) = ast.parse("\n".join(lines)).body
    assert isinstance(node, (ast.FunctionDef, ast.ClassDef))
    for decorator in reversed(node.decorator_list):
        if is_the_kits(decorator):
            del lines[decorator.lineno - 1 : decorator.end_lineno]
    return "\n".join(lines) + "\n"


def definition_from(text: str, module: str, namespace: dict[str, Any] | None = None) -> Any:
    """The function or class that `text` defines, among the names of `module`.

    Args:
        text: one definition.
        module: an imported module's name.
        namespace: the names among which it is defined, instead of a copy of the module's.

    Raises:
        SyntaxError: `text` is not Python.
    """
    names = dict(vars(sys.modules[module])) if namespace is None else namespace
    return _define(text, *_compiled(text), names)


class Edits:
    """Known mistakes that are one small change of a right version each.

        wrong = exercise.edits(spelled_out)
        wrong("no_max_subtraction", "(x - low)", "x", "Exponentials of large scores overflow. …")

    Args:
        base: the right version.
        register: is given each mistake's name, definition and advice.
    """

    def __init__(self, base: Any, register: Callable[[str, Any, str], None]) -> None:
        self._base = base
        self._text = source_text(base)
        self._register = register

    def __call__(self, name: str, old: str, new: str, advice: str) -> None:
        """A mistake that writes `new` where the right version has `old`, which it has once.

        Raises:
            ExerciseError: the right version does not hold `old` exactly once, or the changed text
                is not Python or uses a name that its file lacks.
        """
        self.several(name, {old: new}, advice)

    def several(self, name: str, changes: Mapping[str, str], advice: str) -> None:
        """A mistake that needs more than one change; they are made in the order given.

        Raises:
            ExerciseError: as for a single change.
        """
        text = self._text
        for old, new in changes.items():
            count = text.count(old)
            if count != 1:
                raise ExerciseError(
                    f"mistake {name}: {self._base.__name__} holds {old!r} {count} times; quote a "
                    "part of its text that it holds once"
                )
            text = text.replace(old, new)
        try:
            name_in_text, code = _compiled(text)
        except SyntaxError as error:
            raise ExerciseError(
                f"mistake {name}: the changed text is not Python ({error.msg}, line {error.lineno} "
                f"of {self._base.__name__})"
            ) from error
        # Without this, the mistake would be a NameError, which every check catches.
        module = self._base.__module__
        if missing := _unknown_names(name_in_text, code, module):
            raise ExerciseError(
                f"mistake {name}: the changed text uses {', '.join(missing)}, which its file does "
                "not define; import it there"
            )
        made = _define(text, name_in_text, code, dict(vars(sys.modules[module])))
        self._register(name, made, advice)


def _compiled(text: str) -> tuple[str, CodeType]:
    """The name that a definition's text defines, and its code."""
    tree = ast.parse(text)
    (node,) = tree.body
    assert isinstance(node, (ast.FunctionDef, ast.ClassDef))
    # A name of its own, under which Python finds its lines, as those of a notebook's cell.
    file = f"<a version of {node.name}, {crc32(text.encode()):x}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    return node.name, compile(tree, file, "exec")


def _define(text: str, name: str, code: CodeType, namespace: dict[str, Any]) -> Any:
    exec(code, namespace)  # noqa: S102 - ours
    made = namespace[name]
    setattr(made, _TEXT, text)
    return made


def _unknown_names(name: str, code: CodeType, module: str) -> list[str]:
    """The global names that the functions of a definition use and that `module` does not have."""
    known = {name, *vars(sys.modules[module]), *vars(builtins)}
    return sorted(set(global_names_read_by(code)) - known)
