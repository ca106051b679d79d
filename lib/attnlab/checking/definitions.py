"""What a notebook's names meant for a step: its definitions, with the globals that they saw.

A later cell may use a step's name for something else (``temperature = 0.7``,
``softmax = softmax(x)``), or take away what the step's code uses (``del torch``). That must not
cost the step, so grading does not ask for what is left at the end. The rule:

1. A step's name means its *last good definition*: of all the values that it had, the last one of
   the kind that the step asks for. A function or class that the notebook defines counts before one
   of a library, and an unchanged placeholder counts least. If no value is of that kind, the name
   means what is left at the end.
2. Every other global name that the definition's code uses has the value that it had when the step
   was last checked after its definition; if it was not, then at the end of the definition's cell.
   A name that did not exist at that time has the first value that it got later.

So a definition that is copied, retyped or corrected in a later cell counts, in whatever cell.
Large values that no step asks for are not kept, because a notebook must be able to free its memory.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import torch

FUNCTION, CLASS = "function", "class"
_SMALL_BYTES = 2**16
_MOST_FOLLOWED = 1_000
_SCALARS = (bool, int, float, complex, str, bytes, type(None), torch.dtype, torch.device)
_CALLABLES = (FunctionType, type, BuiltinFunctionType, MethodType, partial)
_WRAPPERS = (staticmethod, classmethod, property, partial, MethodType, FunctionType, type)
_GONE: Any = object()
_NOT_KEPT: Any = object()


@dataclass(frozen=True)
class NameChange:
    """A cell changed a name that a step defines or uses, so the step ignores that cell.

    Attributes:
        name: the name.
        cell: the first such cell's number, as :meth:`Definitions.after_cell` was told.
    """

    name: str
    cell: int


@dataclass(frozen=True)
class _Value:
    cell: int
    value: Any


class Definitions:
    """Watches the names of a notebook while its cells run.

    Args:
        graded: by step, the names that it asks for and the kind of each (see :func:`kind_of`).
    """

    def __init__(self, graded: Mapping[str, Mapping[str, str]]) -> None:
        self._graded = graded
        self._kinds = {name: kind for names in graded.values() for name, kind in names.items()}
        self._history: dict[str, list[_Value]] = {}
        self._ids: dict[str, int] = {}
        self._checked: dict[str, int] = {}
        self._names: Mapping[str, Any] = {}
        self._known: dict[str, dict[str, Any]] = {}  # what _meant() found since the last cell

    def after_cell(self, cell: int, names: Mapping[str, Any], checked: Iterable[str] = ()) -> None:
        """Remember what a cell changed.

        Args:
            cell: its number; later cells have larger ones.
            names: the notebook's names after it; always the same object.
            checked: the steps that are checked between this cell and the next one.
        """
        self._names = names
        self._known.clear()
        self._checked.update(dict.fromkeys(checked, cell))
        for name, value in list(names.items()):
            if self._ids.get(name) != id(value):
                self._ids[name] = id(value)
                kept = value if self.keeps(name, value) else _NOT_KEPT
                self._history.setdefault(name, []).append(_Value(cell, kept))
        for name in self._ids.keys() - names.keys():
            del self._ids[name]
            self._history[name].append(_Value(cell, _GONE))

    def of(self, step: str) -> dict[str, Any]:
        """The names that differ from what the notebook left, with their values for this step."""
        values: dict[str, Any] = {}
        for other in (*(name for name in self._graded if name != step), step):
            values.update(self._meant(other))
        return values

    def changes(self, step: str) -> tuple[NameChange, ...]:
        """The names that this step uses with another value than the notebook left."""
        return tuple(
            NameChange(name, self._first_change(name, value))
            for name, value in self._meant(step).items()
        )

    def keeps(self, name: str, value: Any) -> bool:
        """Whether this value is kept: a step asks for its kind, or it is small."""
        if name in self._kinds:
            return rank(self._kinds[name], value) > 0
        if isinstance(value, (ModuleType, *_CALLABLES)):
            return True
        if isinstance(value, torch.Tensor):
            return value.numel() * value.element_size() <= _SMALL_BYTES
        return isinstance(value, _SCALARS) and sys.getsizeof(value) <= _SMALL_BYTES

    def _meant(self, step: str) -> dict[str, Any]:
        """The names of a step and those that its code uses, where the notebook left others."""
        if step in self._known:
            return self._known[step]
        found = {name: self._best(name) for name in self._graded.get(step, {})}
        good = {name: entry for name, entry in found.items() if entry is not None}
        defined = max((entry.cell for entry in good.values()), default=-1)
        moment = max(defined, self._checked.get(step, -1))
        values = {name: entry.value for name, entry in good.items()}
        values |= self._used_by(list(values.values()), moment, set(values))
        self._known[step] = {
            name: value for name, value in values.items() if not self._is_left(name, value)
        }
        return self._known[step]

    def _best(self, name: str) -> _Value | None:
        """The last good definition of a step's name; None if there is none."""
        ranked = [
            (rank(self._kinds[name], entry.value), place)
            for place, entry in enumerate(self._history.get(name, ()))
            if entry.value is not _GONE and entry.value is not _NOT_KEPT
        ]
        best, place = max(ranked, default=(0, 0))
        return self._history[name][place] if best else None

    def _used_by(self, definitions: list[Any], moment: int, known: set[str]) -> dict[str, Any]:
        """The other global names that these definitions use, with the values that they saw."""
        values: dict[str, Any] = {}
        todo, followed = definitions, set[int]()
        while todo and len(followed) < _MOST_FOLLOWED:
            item = todo.pop()
            if id(item) in followed:
                continue
            followed.add(id(item))
            for name in self._names_used(item):
                if name in values or name in known:
                    continue
                values[name] = self._seen(name, moment)
                if is_own(values[name]):
                    todo.append(values[name])
        return {name: value for name, value in values.items() if value is not _NOT_KEPT}

    def _names_used(self, item: Any) -> Iterator[str]:
        for function in functions_in(item):
            if function.__globals__ is self._names:
                yield from (name for name in globals_of(function.__code__) if name in self._history)

    def _seen(self, name: str, moment: int) -> Any:
        """What a name meant at that moment."""
        if name in self._kinds and (best := self._best(name)):
            return best.value
        entries = self._history[name]
        there = [entry.value for entry in entries if entry.cell <= moment]
        if there and there[-1] is not _GONE:
            return there[-1]
        later = [entry.value for entry in entries if entry.cell > moment]
        return next(
            (value for value in (*later, *reversed(there)) if value is not _GONE), _NOT_KEPT
        )

    def _is_left(self, name: str, value: Any) -> bool:
        """Whether the notebook left this value under this name."""
        left = self._history[name][-1].value
        return left is value or (
            isinstance(value, _SCALARS) and type(left) is type(value) and left == value
        )

    def _first_change(self, name: str, value: Any) -> int:
        entries = self._history[name]
        last = max(place for place, entry in enumerate(entries) if entry.value is value)
        return entries[last + 1].cell


@contextmanager
def replaced(names: dict[str, Any], values: Mapping[str, Any]) -> Iterator[None]:
    """In this block, names of the notebook's have these values."""
    before = {name: names[name] for name in values if name in names}
    names.update(values)
    try:
        yield
    finally:
        for name in values:
            names.pop(name, None)
        names.update(before)


def kind_of(right: Any) -> str:
    """The kind of a right answer: "function", "class", or the name of any other type."""
    if isinstance(right, type):
        return CLASS
    return FUNCTION if callable(right) else type(right).__name__


def is_own(value: Any) -> bool:
    """Whether a notebook's cell, or a file next to the notebook, defines this function or class."""
    with suppress(Exception):  # a student's metaclass may raise
        if not isinstance(value, (FunctionType, type)):
            value = value.__wrapped__
        module = value.__module__
        path = getattr(sys.modules.get(module), "__file__", None)
        return module == "__main__" or (path is not None and Path(path).parent == Path.cwd())
    return False


def rank(kind: str, value: Any) -> int:
    """How good a value is as a definition of this kind: from 0, not at all, to 2."""
    match kind:
        case "class":
            return int(isinstance(value, type)) * (1 + is_own(value))
        case "function":
            return int(callable(value)) * (1 + (is_own(value) and not _is_placeholder(value)))
        case _:
            number = isinstance(value, (int, float)) and kind in ("int", "float")
            return int(number or type(value).__name__ == kind)


def _is_placeholder(function: Any) -> bool:
    """Whether a function does nothing but raise the task's own placeholder."""
    code = getattr(function, "__code__", None)
    return isinstance(code, CodeType) and globals_of(code) == {"NotImplementedError"} and (
        len(code.co_names) == 1
    )  # fmt: skip


@lru_cache(maxsize=4096)
def globals_of(code: CodeType) -> frozenset[str]:
    """The global names that code reads, that of inner functions included."""
    own = {
        instruction.argval
        for instruction in dis.get_instructions(code)
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    }
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return frozenset(own).union(*map(globals_of, inner))


def functions_in(item: Any, depth: int = 5) -> Iterator[FunctionType]:
    """The plain functions in a function, a method, a class, or a decorated one of these."""
    parts: list[Any] = []
    match item:
        case FunctionType():
            yield item
            for cell in item.__closure__ or ():
                with suppress(ValueError):  # it is still empty
                    parts.append(cell.cell_contents)
        case type():
            own = [base for base in item.__mro__ if is_own(base)]
            parts = [part for base in own for part in vars(base).values()]
        case property():
            parts = [item.fget, item.fset]
        case partial():
            parts = [item.func, *item.args, *item.keywords.values()]
        case MethodType() | classmethod() | staticmethod():
            parts = [item.__func__]
    with suppress(Exception):
        parts.append(item.__wrapped__)
    for part in parts if depth else ():
        if isinstance(part, _WRAPPERS):
            yield from functions_in(part, depth - 1)
