"""Which definitions of the library some code can reach: what a lab needs in order to work.

The code is read and not run: a name counts if any path through functions and modules leads to it.
"""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from gradekit.build.library_files import PACKAGE
from gradekit.python_names import bound_by_import, names_bound_by

Name = tuple[str, str]


def needed_by(texts: Iterable[str], names: Iterable[Name] = ()) -> frozenset[Name]:
    """Module and name of each definition of the library that code can reach.

    Args:
        texts: Python, such as the cells of a notebook.
        names: definitions that it uses besides.
    """
    search = _Search()
    for text in texts:
        search.enter(_Module("", ast.parse(text)))
    for module, name in names:
        search.reach(module, name)
    return frozenset(search.found)


@dataclass(frozen=True)
class _Module:
    """The syntax tree of a module or of a notebook's code."""

    name: str
    tree: ast.Module

    @cached_property
    def bound(self) -> dict[str, ast.stmt]:
        """The statements at the top by the names that they bind."""
        return {name: node for node in self.tree.body for name in names_bound_by(node)}

    @cached_property
    def imported(self) -> Mapping[str, str]:
        """The full name of whatever an import statement binds, wherever the statement is."""
        found = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    bound = bound_by_import(alias)
                    found[bound] = alias.name if alias.asname else bound
            elif isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    found[bound_by_import(alias)] = f"{node.module}.{alias.name}"
        return found


@dataclass
class _Search:
    """A walk over the library's definitions.

    Attributes:
        found: those reached so far.
    """

    found: set[Name] = field(default_factory=set)
    _modules: dict[str, _Module | None] = field(default_factory=dict)

    def enter(self, module: _Module) -> None:
        """Reach what runs when `module` is imported: everything at its top but definitions."""
        for node in module.tree.body:
            if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
                self._follow(node, module)
        if not module.name:  # a notebook's own functions are there to be called
            for node in module.bound.values():
                self._follow(node, module)

    def reach(self, module: str, name: str) -> None:
        """Reach one name of a module, and whatever its definition uses."""
        if (module, name) in self.found:
            return
        home = self._module(module)
        if home is None:
            return
        if name in home.imported and name in home.bound:
            self._reach_path(home.imported[name])
        elif name in home.bound:
            self.found.add((module, name))
            self._follow(home.bound[name], home)

    def _follow(self, node: ast.AST, home: _Module) -> None:
        for path in _paths(node):
            first, _, rest = path.partition(".")
            if first in home.imported:
                self._reach_path(".".join(filter(None, (home.imported[first], rest))))
            elif home.name:
                self.reach(home.name, first)

    def _reach_path(self, path: str) -> None:
        """Reach ``attnlab.plots.heads.head_grid``: the longest module, and the name in it."""
        parts = path.split(".")
        for length in range(len(parts) - 1, 0, -1):
            module = ".".join(parts[:length])
            if self._module(module) and self._module(f"{module}.{parts[length]}") is None:
                self.reach(module, parts[length])
                return

    def _module(self, name: str) -> _Module | None:
        """A module of the library; None if it is not one."""
        if name.partition(".")[0] != PACKAGE:
            return None
        if name not in self._modules:
            path = _file_of(name)
            text = path.read_text("utf-8") if path else ""
            self._modules[name] = made = _Module(name, ast.parse(text)) if path else None
            if made:
                self.enter(made)
        return self._modules[name]


def _file_of(module: str) -> Path | None:
    """The file of a module of the library; None if there is no such module."""
    spec = importlib.util.find_spec(PACKAGE)
    assert spec is not None
    assert spec.origin is not None
    base = Path(spec.origin).parent.joinpath(*module.split(".")[1:])
    return next((p for p in (base.with_suffix(".py"), base / "__init__.py") if p.is_file()), None)


def _paths(node: ast.AST) -> Iterator[str]:
    """The names that code reads, each with the attributes behind it: ``plots.heads.head_grid``."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute):
            attributes, inner = [part.attr], part.value
            while isinstance(inner, ast.Attribute):
                attributes.append(inner.attr)
                inner = inner.value
            if isinstance(inner, ast.Name):
                yield ".".join([inner.id, *reversed(attributes)])
