"""The source of one function with everything it needs, to run it without its module.

A probe runs in the sandbox and in a student's bundle, where the exercise file (mistakes, hidden
checks) must not be. A reference that a later exercise uses runs in the sandbox, where the library
is blank. So each is sent alone: its own text, the helpers and constants that it names, and the
imports that those need. Functions of this project are inlined; other imports are kept.
"""

from __future__ import annotations

import ast
import importlib
import symtable
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from functools import lru_cache
from importlib.util import resolve_name
from pathlib import Path
from types import ModuleType
from typing import Any

from gradekit.errors import StandaloneError
from gradekit.exercise.edits import is_made_from_text, is_the_kits, source_text
from gradekit.python_names import bound_by_import, names_bound_by
from gradekit.untrusted.messages import ANONYMOUS

PROJECT = ("attnlab", "gradekit", "gradekit_exercises")
# Shared by both sides and without answers: imported, not inlined.
SHARED = (
    "attnlab.checking", "attnlab.data", "attnlab.plots", "attnlab.pretend_gpu",
    "attnlab.transformer_config",
)  # fmt: skip


def standalone_source(item: Callable[..., Any]) -> str:
    """Python source that defines `item` (a module-level function or class) and what it needs.

    Raises:
        StandaloneError: it names a module of this project that cannot be inlined, or its text would
            depend on the version of Python.
    """
    return standalone_sources([item])


def standalone_sources(items: Iterable[Callable[..., Any]]) -> str:
    """Like :func:`standalone_source`, for several functions that may share helpers."""
    collector = _Collector()
    for item in items:
        if is_made_from_text(item):
            collector.add_text(sys.modules[item.__module__], source_text(item))
        else:
            collector.add(sys.modules[item.__module__], item.__name__)
    return collector.text()


class _Collector:
    """Collects definitions, each once, and each after those that it needs."""

    def __init__(self) -> None:
        self._imports: dict[str, None] = {"from __future__ import annotations": None}
        self._definitions: dict[tuple[str, int], str] = {}
        self._seen: set[tuple[str, str]] = set()

    def text(self) -> str:
        return "\n".join([*self._imports, "", *self._definitions.values(), ""])

    def add(self, module: ModuleType, name: str) -> None:
        """Add the definition of `name` in `module`, after those that it needs."""
        key = (module.__name__, name)
        if key in self._seen:
            return
        self._seen.add(key)
        assert module.__file__ is not None
        statement = _statements(Path(module.__file__)).get(name)
        if statement is None:
            return  # a builtin, or a name bound inside the function
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            self._add_import(module, statement, name)
            return
        for needed in _names(statement):
            self.add(module, needed)
        # Keyed by line, because one statement may bind several names.
        self._definitions[module.__name__, statement.lineno] = _text_of(statement)

    def add_text(self, module: ModuleType, text: str) -> None:
        """Add a definition that is in no file, after those of `module` that it needs."""
        (statement,) = ast.parse(text).body
        for needed in _names(statement):
            if needed not in names_bound_by(statement):
                self.add(module, needed)
        self._definitions[text, 0] = _text_of(statement)

    def _add_import(
        self, module: ModuleType, statement: ast.Import | ast.ImportFrom, name: str
    ) -> None:
        (alias,) = (a for a in statement.names if bound_by_import(a) == name)
        origin = _origin(module, statement) if isinstance(statement, ast.ImportFrom) else alias.name
        if not _belongs_to(origin, PROJECT) or _belongs_to(origin, SHARED):
            kind = type(statement)
            alone = kind(**{**_fields(statement), "names": [alias]})
            self._imports[ast.unparse(alone)] = None
            return
        is_function = isinstance(statement, ast.ImportFrom) and alias.asname is None
        if origin is None or not is_function or _is_module(origin, alias.name):
            raise StandaloneError(
                f"{ast.unparse(statement)!r}: import the function by name "
                f"(`from {origin} import function`), so that its text can be sent with the others"
            )
        self.add(importlib.import_module(origin), alias.name)


def _origin(module: ModuleType, statement: ast.ImportFrom) -> str | None:
    """The module that a statement in `module` imports from, relative ones resolved."""
    if not statement.level:
        return statement.module
    return resolve_name("." * statement.level + (statement.module or ""), module.__package__)


def _belongs_to(module: str | None, packages: Iterable[str]) -> bool:
    return module is not None and any(
        module == package or module.startswith(package + ".") for package in packages
    )


def _is_module(package: str, name: str) -> bool:
    return isinstance(getattr(importlib.import_module(package), name, None), ModuleType)


def _fields(node: ast.AST) -> dict[str, Any]:
    return dict(ast.iter_fields(node))


def _statements(path: Path) -> Mapping[str, ast.stmt]:
    """The top-level statements of a module's file by the names they bind."""
    return _parsed(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=256)
def _parsed(path: Path, changed: int) -> Mapping[str, ast.stmt]:
    bound: dict[str, ast.stmt] = {}
    for statement in ast.parse(path.read_text("utf-8")).body:
        for name in names_bound_by(statement):
            bound[name] = statement
    return bound


@lru_cache(maxsize=4096)  # a helper is read for each function that needs it
def _names(statement: ast.stmt) -> tuple[str, ...]:
    """The names of its module that a statement reads; annotations are not evaluated."""
    text = ast.unparse(_Unannotated().visit(deepcopy(_undecorated(statement))))
    return tuple(sorted(set(_global_names(symtable.symtable(text, "<statement>", "exec")))))


def _global_names(table: symtable.SymbolTable) -> Iterator[str]:
    """Names that are read here and bound nowhere inside; a local variable may hide a helper."""
    for symbol in table.get_symbols():
        if symbol.is_referenced() and symbol.is_global():
            yield symbol.get_name()
    for inner in table.get_children():
        yield from _global_names(inner)


class _Unannotated(ast.NodeTransformer):
    """Makes every annotation None."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for field in ("annotation", "returns"):
            if getattr(node, field, None) is not None:
                setattr(node, field, ast.Constant(None))
        return super().generic_visit(node)


def _text_of(statement: ast.stmt) -> str:
    """A definition as it is sent: the same text from every version of Python, and for each.

    Raises:
        StandaloneError: an f-string has quotes inside its braces. From Python 3.12, `ast.unparse`
            writes them in a way that 3.11 cannot read.
    """
    for node in ast.walk(statement):
        if isinstance(node, ast.FormattedValue) and any(map(_is_text, ast.walk(node.value))):
            raise StandaloneError(
                f"{ast.unparse(node.value)!r} is in an f-string and has quotes of its own; give it "
                "a name in the line before, so that every version of Python writes the same text"
            )
    return ast.unparse(_undecorated(statement))


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))


def _undecorated(statement: ast.stmt) -> ast.stmt:
    """A definition without this kit's decorators (others, such as dataclass, stay)."""
    if not isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return statement
    kept = [d for d in statement.decorator_list if not is_the_kits(d)]
    kind = type(statement)
    return ast.copy_location(kind(**{**_fields(statement), "decorator_list": kept}), statement)


def anonymous_version(source: str, name: str) -> str:
    """The text `source`, with its function or class `name` called ``version`` and no docstring.

    A wrong version's own name says what is wrong with it; the test that is tried on it must not see
    that.

    Raises:
        ValueError: `source` defines no `name`.
    """
    renamer = _Renamer(name)
    tree = renamer.visit(ast.parse(source))
    if not renamer.found:
        raise ValueError(f"the text defines no function or class named {name!r}")
    return ast.unparse(ast.fix_missing_locations(tree))


class _Renamer(ast.NodeTransformer):
    """Renames one definition and each reading of its name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.found = False

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._definition(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._definition(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id == self.name:
            node.id = ANONYMOUS
        return node

    def _definition(self, node: ast.FunctionDef | ast.ClassDef) -> ast.AST:
        self.generic_visit(node)
        if node.name == self.name:
            self.found = True
            node.name = ANONYMOUS
            if ast.get_docstring(node) is not None:
                node.body = node.body[1:] or [ast.Pass()]
        return node
