"""Makes wrong versions of a function automatically: one small change of its syntax tree each.

A mutant that passes every check shows a missing check, or it is equivalent to the original and the
exercise file says so, with a reason. The changes: swap an operator or a comparison, change a
number, an axis or a flag, use another torch function, drop a call or an argument, invert a
condition or make it always false, drop a statement.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from gradekit.exercise.edits import definition_from, source_text

_SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip

# Names in torch that are easily confused.
_LOOKALIKES = {
    one: other
    for pair in (
        ("amax", "amin"), ("max", "min"), ("argmax", "argmin"), ("sum", "mean"), ("exp", "expm1"),
        ("log", "log2"), ("zeros", "ones"), ("zeros_like", "ones_like"), ("cat", "stack"),
        ("tril", "triu"), ("sin", "cos"), ("squeeze", "unsqueeze"), ("any", "all"),
    )
    for one, other in (pair, pair[::-1])
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A changed function.

    Attributes:
        label: the function and the change, in words that do not depend on line numbers.
        make: returns the changed function or class.
    """

    label: str
    make: Callable[[], Any]


def mutants(function: Any) -> Iterator[Mutant]:
    """Every mutant of a module-level function or class, in the order of its source."""
    tree = ast.parse(source_text(function))
    original = ast.unparse(tree)
    seen = {original}
    for path, change, replacement in _changes(tree.body[0]):
        mutated = copy.deepcopy(tree)
        _replace(mutated.body[0], path, copy.deepcopy(replacement))
        text = ast.unparse(ast.fix_missing_locations(mutated))
        if text in seen:
            continue
        seen.add(text)
        make = partial(definition_from, text, function.__module__)
        yield Mutant(f"{function.__name__}: {change}", make)


Path = tuple[tuple[str, int | None], ...]


def _changes(root: ast.AST) -> Iterator[tuple[Path, str, Any]]:
    """(path, the change in words, the replacement) for each possible change below `root`."""
    for path, node, statement in _walk(root, (), root):
        for replacement in _alternatives(node):
            words = "dropped" if replacement is None else f"→ `{_text(replacement)}`"
            context = f" in `{_text(statement)}`" if statement is not node else ""
            yield path, f"`{_text(node)}` {words}{context}", replacement


def _walk(node: ast.AST, path: Path, statement: ast.AST) -> Iterator[tuple[Path, ast.AST, ast.AST]]:
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "type_params", "bases"}:
            continue
        children = value if isinstance(value, list) else [value]
        for index, child in enumerate(children):
            if not isinstance(child, ast.AST) or isinstance(child, ast.Raise):
                continue
            if _is_docstring(child):
                continue
            step = (name, index if isinstance(value, list) else None)
            inner = child if isinstance(child, ast.stmt) else statement
            yield (*path, step), child, inner
            yield from _walk(child, (*path, step), inner)


def _alternatives(node: ast.AST) -> Iterator[Any]:
    match node:
        case ast.operator() | ast.cmpop() | ast.boolop() if type(node) in _SWAPS:
            yield _SWAPS[type(node)]()
        case ast.Constant(value=bool() as flag):
            yield ast.Constant(not flag)
        case ast.Constant(value=int() | float() as number):
            yield ast.Constant(number + 1)
            if number:
                yield ast.Constant(number - 1)
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
            yield operand
        case ast.Call(func=ast.Attribute(value=inner)) if not _is_module(inner):
            yield inner
        case ast.Call(args=[first, *_]) if not isinstance(first, ast.Starred):
            yield first
        case ast.Attribute(attr=name) if name in _LOOKALIKES:
            yield _with(node, attr=_LOOKALIKES[name])
        case ast.keyword(arg="dim", value=ast.Name()):
            yield ast.keyword("dim", ast.Constant(0))
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            yield _with(node, test=ast.UnaryOp(ast.Not(), test))
            if not isinstance(node, ast.While):
                yield _with(node, test=ast.Constant(False))
        case ast.AugAssign() | ast.Expr(value=ast.Call()):
            yield ast.Pass()
    if isinstance(node, ast.Call):
        for index in range(len(node.keywords)):
            rest = node.keywords[:index] + node.keywords[index + 1 :]
            yield _with(node, keywords=rest)


def _with(node: ast.AST, **fields: Any) -> ast.AST:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _replace(root: ast.AST, path: Path, replacement: Any) -> None:
    *way, (name, index) = path
    node: Any = root
    for field, position in way:
        node = getattr(node, field)
        node = node if position is None else node[position]
    if index is None:
        setattr(node, name, replacement)
    else:
        getattr(node, name)[index] = replacement


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_module(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in {"torch", "math", "F", "nn", "np"}


def _text(node: Any) -> str:
    if isinstance(node, (ast.operator, ast.cmpop, ast.boolop)):
        return type(node).__name__
    if isinstance(node, (ast.If, ast.While, ast.For, ast.With, ast.FunctionDef)):
        return ast.unparse(node).splitlines()[0]
    return ast.unparse(node)
