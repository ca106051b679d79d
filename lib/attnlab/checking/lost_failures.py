"""Why a student's test raises nothing: how its code loses the failure of a comparison.

What a test accepts shows that it rejects nothing, but not why. Its text does: an `assert` of a
tuple, a comparison whose result nothing reads (also because a later one takes its name), or an
`except` that catches the failure.

Tested in ``test_lost_failures.py``.
"""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from types import FunctionType
from typing import Any

from attnlab.checking.observation import (
    FAILURE_CAUGHT,
    NO_REASON,
    NOTHING_STOPS_IT,
    RESULT_UNREAD,
    TUPLE_ASSERTED,
)

Definition = ast.FunctionDef | ast.AsyncFunctionDef
Called = dict[str, Definition]

_COMPARES = {"allclose", "equal", "isclose", "eq", "array_equal"}
_OF_EACH_ENTRY = {"isclose", "eq"}
_TO_ONE_BOOL = {"all", "any", "item", "bool"}
_OF_RESULTS = {"shape", "dtype", "ndim", "device", "tolist", "item", "max", "amax", "norm"}
_EVERY_ERROR = {"AssertionError", "Exception", "BaseException"}
_ONLY_TELLS = {"print", "str", "repr", "type", "format", "print_exc"}


def lost_failure(
    test: Callable[..., Any],
    rejects_zeros: Callable[[], bool] = lambda: False,
    rejects_errors: Callable[[], bool] = lambda: True,
) -> str:
    """The way in which `test`, or a function that it calls, loses a failure.

    The two that are always a mistake come first. An `except` may stand in a right test, one that
    rejects an obviously wrong version, if no `assert` surely fails inside it.

    Args:
        test: the test; for one whose text is not known, the answer is :data:`NO_REASON`.
        rejects_zeros: asks whether the test rejects an obviously wrong version.
        rejects_errors: asks whether it rejects a version that only raises an error. A test that
            rejects neither calls no version, or loses its failures in a way that is not known here.

    Raises:
        NotImplementedError: the test is not written yet, so it has no failures.
    """
    if _is_placeholder(_text_of(_undecorated(test))):
        raise NotImplementedError
    found = {kind for code, names in _definitions(test, set()) for kind in _kinds(code, names)}
    kinds = (TUPLE_ASSERTED, RESULT_UNREAD, FAILURE_CAUGHT)
    lost = next((kind for kind in kinds if kind in found), NO_REASON)
    may_be_right = lost == FAILURE_CAUGHT and not catches_an_assert(test)
    if may_be_right and rejects_zeros():
        return NO_REASON
    if lost == NO_REASON and not (rejects_errors() or rejects_zeros()):
        return NOTHING_STOPS_IT
    return lost


def catches_an_assert(test: Callable[..., Any]) -> bool:
    """Whether a failed `assert` surely stays inside an `except` of `test` or of what it calls.

    That is so if the `except` catches an AssertionError and does nothing that a later line could
    read: it neither raises nor stores nor calls anything but `print`.
    """
    return any(
        _asserts(tried, names) and not _uses(handler, returns_count=place > 0)
        for place, (code, names) in enumerate(_definitions(test, set()))
        for tried, handler in _handlers(code)
    )


def printed_anyway(test: Callable[..., Any]) -> frozenset[str]:
    """The texts that `test` prints whatever it finds, such as "ok" in its last line.

    That is what it prints outside of every `if`, `else` and `except`.
    """
    code = _text_of(_undecorated(test))
    return frozenset(_texts_printed(code.body) if code else ())


def _texts_printed(statements: Iterable[ast.stmt]) -> Iterator[str]:
    for statement in statements:
        match statement:
            case ast.Expr(ast.Call(func=ast.Name("print"), args=args)):
                texts = (one.value for one in args if isinstance(one, ast.Constant))
                yield from (text.strip() for text in texts if isinstance(text, str))
            case ast.For(body=body) | ast.While(body=body) | ast.With(body=body):
                yield from _texts_printed(body)
            case ast.Try(body=body):
                yield from _texts_printed(body)


def _definitions(function: Any, seen: set[Any]) -> Iterator[tuple[Definition, Called]]:
    """The text of a function, and of all that it calls by name and that stands beside it.

    With each come the functions that it may call by name, its inner ones as well.
    """
    function = _undecorated(function)
    code = None if function in seen else _text_of(function)
    if code is None:
        return
    seen.add(function)
    names = _names(code)
    beside = {
        name: other
        for name, other in function.__globals__.items()
        if name in names and getattr(other, "__module__", None) == function.__module__
    }
    texts = {name: _text_of(_undecorated(other)) for name, other in beside.items()}
    inner = {node.name: node for node in ast.walk(code) if isinstance(node, Definition)}
    yield code, {name: text for name, text in texts.items() if text is not None} | inner
    for other in beside.values():
        yield from _definitions(other, seen)


def _is_placeholder(code: Definition | None) -> bool:
    """Whether a function does nothing but say that it is not written."""
    match code and [one for one in code.body if not isinstance(one, ast.Expr)]:
        case [ast.Raise(exc=ast.Name("NotImplementedError"))]:
            return True
        case [ast.Raise(exc=ast.Call(ast.Name("NotImplementedError")))]:
            return True
    return False


def _undecorated(function: Any) -> Any:
    try:
        return inspect.unwrap(function)
    except ValueError:  # a decorator that wraps itself
        return function


def _text_of(function: Any) -> Definition | None:
    """The text of a function; None if it is not known."""
    if not isinstance(function, FunctionType):
        return None
    code = function.__code__
    for node in ast.walk(_parsed("".join(linecache.getlines(code.co_filename)))):
        if isinstance(node, Definition):
            first = min([node.lineno, *(line.lineno for line in node.decorator_list)])
            if (node.name, first) == (function.__name__, code.co_firstlineno):
                return node
    return None


@lru_cache(maxsize=8)
def _parsed(text: str) -> ast.Module:
    """A file or a cell; empty if Python cannot read it."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def _kinds(code: Definition, called: Called) -> Iterator[str]:
    for node in ast.walk(code):
        match node:
            case ast.Assert(test=ast.Tuple(elts=[_, *_]) | ast.List(elts=[_, *_])):
                yield TUPLE_ASSERTED
            case ast.Expr(value) if _gives_a_verdict(value, called):
                yield RESULT_UNREAD
            case ast.FunctionDef() | ast.AsyncFunctionDef() if _overwrites(node, called):
                yield RESULT_UNREAD
    if any(_handlers(code)):
        yield FAILURE_CAUGHT


def _compares(value: ast.AST) -> bool:
    """Whether an expression is a comparison and nothing else, such as `torch.allclose(a, b)`."""
    if isinstance(value, ast.Compare):
        return True
    if isinstance(value, ast.BoolOp | ast.UnaryOp):
        return any(map(_compares, _joined(value)))
    if not isinstance(value, ast.Call):
        return False
    _, *inside = ast.walk(value)
    name = _name(value.func)
    return name in _COMPARES or (name in _TO_ONE_BOOL and any(map(_compares, inside)))


def _gives_a_verdict(value: ast.expr, called: Called) -> bool:
    """Whether an expression is a comparison, or the call of a function that returns a verdict.

    A function of the student's own may be called `equal`, too, and raise by itself.
    """
    match value:
        case ast.Call(func=ast.Name(id=name)) if name in called:
            return _calls_a_verdict(value, called)
    return _compares(value)


def _joined(value: ast.BoolOp | ast.UnaryOp) -> list[ast.expr]:
    """What `and`, `or` or `not` joins or turns round; nothing for a sign."""
    if isinstance(value, ast.BoolOp):
        return value.values
    return [value.operand] if isinstance(value.op, ast.Not) else []


def _compares_results(value: ast.expr) -> bool:
    """Whether an expression compares results, and does not make a mask such as `ids == pad`."""
    if not _compares(value):
        return False
    if isinstance(value, ast.BoolOp | ast.UnaryOp):
        return any(map(_compares_results, _joined(value)))
    if isinstance(value, ast.Compare):
        return bool(_names(value) & _OF_RESULTS)
    return bool(_names(value) & ({*_COMPARES, "all"} - _OF_EACH_ENTRY))


def _calls_a_verdict(value: ast.expr, called: Called) -> bool:
    """Whether an expression is the call of a function that returns a verdict."""
    helper = called.get(_name(value.func)) if isinstance(value, ast.Call) else None
    return helper is not None and any(
        _compares_results(node.value)
        or (isinstance(node.value, ast.Constant) and node.value.value is False)
        for node in ast.walk(helper)
        if isinstance(node, ast.Return) and node.value is not None
    )


def _overwrites(code: Definition, called: Called) -> bool:
    """Whether the result of a comparison gets a name, and nothing reads it under this name."""
    results = _Results(called)
    results.after(code.body, frozenset())
    return results.overwritten or not results.named <= _names(code, ast.Load)


class _Results:
    """Follows the results of comparisons through a function, in all orders in which it may run.

    Attributes:
        named: the names that such results get.
        overwritten: whether one can get the name of another that nothing has read.
    """

    def __init__(self, called: Called) -> None:
        self.called = called
        self.named: set[str] = set()
        self.overwritten = False
        # The body of a loop is followed twice; without this, that of the tenth inside a thousand
        # times.
        self._known: dict[tuple[int, frozenset[str]], frozenset[str]] = {}

    def after(self, statements: Iterable[ast.stmt], unread: frozenset[str]) -> frozenset[str]:
        """The names of unread results after some statements, from those before them."""
        for statement in statements:
            before = (id(statement), unread)
            if before not in self._known:
                self._known[before] = self._after_one(statement, unread)
            unread = self._known[before]
        return unread

    def _after_one(self, statement: ast.stmt, unread: frozenset[str]) -> frozenset[str]:
        match statement:
            case ast.If():
                unread -= _names(statement.test)
                return self.after(statement.body, unread) | self.after(statement.orelse, unread)
            case ast.For() | ast.AsyncFor() | ast.While():
                head = statement.test if isinstance(statement, ast.While) else statement.iter
                unread -= _names(head)
                once = self.after(statement.body, unread)
                twice = self.after(statement.body, unread | (once - _names(head)))
                return self.after(statement.orelse, unread | once | twice)
            case ast.With() | ast.AsyncWith():
                for item in statement.items:
                    unread -= _names(item)
                return self.after(statement.body, unread)
            case ast.Try():
                tried = self.after(statement.body, unread)
                caught = [self.after(h.body, unread | tried) for h in statement.handlers]
                ended = self.after(statement.orelse, tried).union(*caught)
                return self.after(statement.finalbody, ended)
            case ast.Return() | ast.Raise():
                return frozenset()
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                return self._named(name, value, unread - _names(value))
        return unread - _names(statement)

    def _named(self, name: str, value: ast.expr, unread: frozenset[str]) -> frozenset[str]:
        if not (_compares_results(value) or _calls_a_verdict(value, self.called)):
            return unread - {name}
        self.named.add(name)
        self.overwritten |= name in unread
        return unread | {name}


def _handlers(code: Definition) -> Iterator[tuple[list[ast.stmt], list[ast.stmt]]]:
    """What is tried, and what happens then, for each AssertionError that is caught."""
    for node in ast.walk(code):
        match node:
            case ast.Try():
                for handler in node.handlers:
                    if handler.type is None or _names(handler.type) & _EVERY_ERROR:
                        yield node.body, handler.body
            case ast.With():
                for item in node.items:
                    call = item.context_expr
                    caught = isinstance(call, ast.Call) and _name(call.func) == "suppress"
                    if caught and _names(call) & _EVERY_ERROR:
                        yield node.body, []


def _asserts(tried: Iterable[ast.stmt], called: Called) -> bool:
    """Whether these statements contain an assertion, or call a function that does."""
    found = [node for statement in tried for node in ast.walk(statement)]
    names = {node.id for node in found if isinstance(node, ast.Name)}
    found += [node for name in names & called.keys() for node in ast.walk(called[name])]
    return any(_is_assertion(node) for node in found)


def _is_assertion(node: ast.AST) -> bool:
    """An `assert`, a `raise AssertionError`, or a call such as `torch.testing.assert_close(…)`."""
    match node:
        case ast.Assert():
            return True
        case ast.Raise(exc=ast.expr() as error):
            return "AssertionError" in _names(error)
        case ast.Call(func=func):
            return _name(func).startswith("assert")
    return False


def _uses(handler: Iterable[ast.stmt], returns_count: bool) -> bool:
    """Whether an `except` raises, keeps or returns anything, so that a later line can see it."""
    for node in (inner for statement in handler for inner in ast.walk(statement)):
        match node:
            case ast.Raise() | ast.Assert() | ast.AugAssign():
                return True
            case ast.Name(ctx=ast.Store() | ast.Del()) | ast.Attribute(ctx=ast.Store()):
                return True
            case ast.Subscript(ctx=ast.Store()):
                return True
            case ast.Return(value) if returns_count and value is not None:
                if ast.unparse(value) != "None":
                    return True
            case ast.Call(func) if _name(func) not in _ONLY_TELLS:
                return True
    return False


def _name(func: ast.expr) -> str:
    """The last name of what is called: `allclose` of `torch.allclose(a, b)`."""
    match func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _names(code: ast.AST, context: type[ast.expr_context] = ast.expr_context) -> set[str]:
    """The names and attributes in some code."""
    return {
        node.id if isinstance(node, ast.Name) else node.attr
        for node in ast.walk(code)
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, context)
    }
