"""A version among the other references of its exercise, in one namespace as in a notebook.

In a notebook, `Bert` finds the student's own `MLMHead` by its name. The library's `Bert` always
finds the library's `MLMHead`. So a reference that uses a replaced name is defined once more, among
names that hold the replacement.

Tested in tests/gradekit/exercise/test_one_namespace.py.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from gradekit.exercise.edits import definition_from, source_text


def in_one_namespace(
    references: Iterable[Callable[..., Any]], replaced: Mapping[str, Any]
) -> dict[str, Any]:
    """`replaced`, and those references that use one of its names, directly or not, bound to it.

    Args:
        references: the functions and classes that are the right answer of one exercise.
        replaced: other versions of some of them, by name.
    """
    users = _users([r for r in references if r.__name__ not in replaced], frozenset(replaced))
    made = dict(replaced)
    namespaces: dict[str, dict[str, Any]] = {}
    for user in users:
        module = user.__module__
        names = namespaces.setdefault(module, {**vars(sys.modules[module]), **replaced})
        made[user.__name__] = definition_from(_text(user), module, names)
    for names in namespaces.values():
        names.update(made)
    return made


def _users(references: list[Callable[..., Any]], names: frozenset[str]) -> list[Callable[..., Any]]:
    """The references that use one of `names`, directly or through another reference."""
    users = [r for r in references if _names_in(_text(r)) & names]
    if not users:
        return []
    others = [r for r in references if r not in users]
    return users + _users(others, names | {user.__name__ for user in users})


@lru_cache(maxsize=256)  # for each observation of each known mistake
def _text(reference: Callable[..., Any]) -> str:
    return source_text(reference)


@lru_cache(maxsize=256)
def _names_in(text: str) -> frozenset[str]:
    """The names that a definition reads, wherever they are bound."""
    return frozenset(node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name))
