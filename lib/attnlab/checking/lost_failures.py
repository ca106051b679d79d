"""Why a student's test raises nothing: how its code loses the failure of a comparison.

What a test accepts shows that it rejects nothing, but not why. Its compiled code does: an `assert`
of a tuple, a comparison whose result nothing reads (also because a later one takes its name), or an
`except` that catches the failure.

Tested in ``test_lost_failures.py``.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterator
from itertools import pairwise
from types import CodeType, FunctionType
from typing import Any

from attnlab.checking.observation import (
    FAILURE_CAUGHT,
    NO_REASON,
    RESULT_UNREAD,
    TUPLE_ASSERTED,
)

_COMPARES = {"allclose", "equal", "isclose", "eq", "array_equal"}
_TO_ONE_BOOL = {"all", "any", "item"}
_OF_RESULTS = {"shape", "dtype", "ndim", "device", "tolist", "item", "max", "amax", "norm"}
_EVERY_ERROR = {"AssertionError", "Exception", "BaseException"}
_ONLY_TELLS = {"print", "str", "repr", "type", "format", "traceback", "print_exc", "__name__"}
_SKIPPED = {"TO_BOOL", "NOP", "CACHE", "PRECALL", "PUSH_NULL"}
_ENDS = ("POP_TOP", "STORE_", "RETURN_", "JUMP", "RAISE_", "POP_JUMP", "RESUME", "FOR_ITER")


def lost_failure(
    test: Callable[..., Any], rejects_zeros: Callable[[], bool] = lambda: False
) -> str:
    """The way in which `test`, or a function that it calls, loses a failure.

    The two that are always a mistake come first. An `except` may stand in a right test, one that
    rejects an obviously wrong version, if no `assert` surely fails inside it.

    Args:
        test: the test; for one that is not a function, the answer is :data:`NO_REASON`.
        rejects_zeros: asks whether the test rejects an obviously wrong version.
    """
    found = {kind for code, names in _codes(test, set()) for kind in _kinds(code, names)}
    kinds = (TUPLE_ASSERTED, RESULT_UNREAD, FAILURE_CAUGHT)
    lost = next((kind for kind in kinds if kind in found), NO_REASON)
    may_be_right = lost == FAILURE_CAUGHT and not catches_an_assert(test)
    return NO_REASON if may_be_right and rejects_zeros() else lost


def catches_an_assert(test: Callable[..., Any]) -> bool:
    """Whether a failed `assert` surely stays inside an `except` of `test` or of what it calls.

    That is so if the `except` catches an AssertionError and does nothing that a later line could
    read: it neither raises nor stores nor calls anything but `print`.
    """
    return any(
        _asserts(tried, names) and not _uses(body, returns_count=code is not test.__code__)
        for code, names in _codes(test, set())
        for tried, body in _handlers(code)
    )


def _codes(function: Any, seen: set[Any]) -> Iterator[tuple[CodeType, dict[str, Any]]]:
    """The code of a function and of all that it calls by name and that stands beside it.

    With each code come the functions beside it, by name.
    """
    if not isinstance(function, FunctionType) or function in seen:
        return
    seen.add(function)
    beside = {
        name: other
        for name, other in function.__globals__.items()
        if isinstance(other, FunctionType) and other.__module__ == function.__module__
    }
    for code in _nested(function.__code__):
        yield code, beside
        for name in code.co_names:
            yield from _codes(beside.get(name), seen)


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)


def _steps(code: CodeType) -> list[dis.Instruction]:
    return [step for step in dis.get_instructions(code) if step.opname not in _SKIPPED]


def _kinds(code: CodeType, beside: dict[str, Any]) -> Iterator[str]:
    steps = _steps(code)
    for step, after in pairwise(steps):
        if step.opname in ("BUILD_TUPLE", "BUILD_LIST") and "IF_TRUE" in after.opname:
            yield TUPLE_ASSERTED
        if step.opname == "CHECK_EXC_MATCH":
            yield FAILURE_CAUGHT
        if step.opname == "PUSH_EXC_INFO" and after.opname == "POP_TOP":  # a bare `except:`
            yield FAILURE_CAUGHT
    stored: dict[int, str] = {}  # the names that get the result of a comparison, by step
    for place, (step, statement) in enumerate(_with_statements(steps)):
        if step.opname == "POP_TOP" and (
            _compares(statement) or _calls_a_comparison(statement, beside)
        ):
            yield RESULT_UNREAD
        if step.opname == "STORE_FAST" and (
            _compares_results(statement) or _calls_a_comparison(statement, beside)
        ):
            stored[place] = step.argval
    for place, name in stored.items():
        if not any(_loads(step, name) for step in steps) or _overwritten(steps, place, stored):
            yield RESULT_UNREAD


def _with_statements(
    steps: list[dis.Instruction],
) -> Iterator[tuple[dis.Instruction, list[dis.Instruction]]]:
    """Each step with those before it that belong to the same statement."""
    statement: list[dis.Instruction] = []
    for step in steps:
        yield step, statement
        statement = [] if step.opname.startswith(_ENDS) else [*statement, step]


def _compares(statement: list[dis.Instruction]) -> bool:
    """Whether a statement is a comparison and nothing else, such as `torch.allclose(a, b)`."""
    if not statement:
        return False
    if statement[-1].opname == "COMPARE_OP":
        return True
    named = [s for s in statement if s.opname in ("LOAD_ATTR", "LOAD_METHOD")]
    if not statement[-1].opname.startswith("CALL") or not named:
        return False
    # `torch.allclose(…)` begins with the name of what it calls, `(a == b).all()` ends with it.
    begins = named[0].argval in _COMPARES and statement.index(named[0]) == 1
    return begins or (named[-1].argval in _TO_ONE_BOOL and statement[-2] is named[-1])


def _compares_results(statement: list[dis.Instruction]) -> bool:
    """Whether a statement compares results, and does not make a mask such as `ids == pad`."""
    if not _compares(statement):
        return False
    names = {step.argval for step in statement if step.opname in ("LOAD_ATTR", "LOAD_METHOD")}
    if statement[-1].opname == "COMPARE_OP":
        return bool(names & _OF_RESULTS)
    return bool(names & (_COMPARES | {"all"}) - {"isclose", "eq"})


def _calls_a_comparison(statement: list[dis.Instruction], beside: dict[str, Any]) -> bool:
    """Whether a statement is the call of a function beside the test that returns a verdict."""
    if len(statement) < 2 or not statement[-1].opname.startswith("CALL"):
        return False
    helper = beside.get(statement[0].argval) if statement[0].opname == "LOAD_GLOBAL" else None
    return helper is not None and _returns_a_verdict(helper.__code__)


def _returns_a_verdict(code: CodeType) -> bool:
    for step, statement in _with_statements(_steps(code)):
        if step.opname == "RETURN_CONST" and step.argval is False:
            return True
        if step.opname == "RETURN_VALUE" and statement:
            last = statement[-1]
            if _compares_results(statement) or (
                last.opname == "LOAD_CONST" and last.argval is False
            ):
                return True
    return False


def _loads(step: dis.Instruction, name: str) -> bool:
    names = step.argval if isinstance(step.argval, tuple) else (step.argval,)
    return "LOAD_FAST" in step.opname and name in names


def _overwritten(steps: list[dis.Instruction], place: int, stored: dict[int, str]) -> bool:
    """Whether a later comparison can take the name of the one at `place` before it is read."""
    where = {step.offset: number for number, step in enumerate(steps)}
    name, ahead, seen = stored[place], [place + 1], set()
    while ahead:
        here = ahead.pop()
        if here in seen or here >= len(steps):
            continue
        seen.add(here)
        step = steps[here]
        if stored.get(here) == name:
            return True
        stores = step.opname.startswith(("STORE_FAST", "DELETE_FAST")) and step.argval == name
        if stores or _loads(step, name):
            continue
        if "JUMP" in step.opname or step.opname in ("FOR_ITER", "SEND"):
            ahead.append(min((n for at, n in where.items() if at >= step.argval), default=here))
        goes_on = step.opname in ("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT")
        if not goes_on and not step.opname.startswith(("RETURN_", "RAISE_", "RERAISE")):
            ahead.append(here + 1)
    return False


def _handlers(
    code: CodeType,
) -> Iterator[tuple[list[dis.Instruction], list[dis.Instruction]]]:
    """The steps in each `try` and in each `except` of it that catches an AssertionError."""
    steps = _steps(code)
    for start, end, target in _tried(code):
        tried = [step for step in steps if start <= step.offset < end]
        handler = [step for step in steps if step.offset >= target]
        if len(handler) < 2 or handler[0].opname != "PUSH_EXC_INFO":
            continue
        if handler[1].opname == "POP_TOP":  # a bare `except:`
            yield tried, _until_the_end(handler[2:])
        types: set[Any] = set()
        until = target
        for step, after in pairwise(handler):
            if step.offset < until or step.opname == "PUSH_EXC_INFO":
                continue
            if step.opname.startswith("LOAD_"):
                types.add(step.argval)
            elif step.opname == "CHECK_EXC_MATCH":
                until = after.argval
                if types & _EVERY_ERROR:
                    yield tried, [s for s in handler if after.offset < s.offset < until]
                types = set()
            elif step.opname != "BUILD_TUPLE":
                break


def _tried(code: CodeType) -> Iterator[tuple[int, int, int]]:
    """The first and the last offset of what is tried, and the one of its handler."""
    for entry in getattr(dis, "_parse_exception_table", lambda _: ())(code):
        yield entry.start, entry.end, entry.target


def _until_the_end(body: list[dis.Instruction]) -> list[dis.Instruction]:
    """The steps of a bare `except:`, up to the one that raises an error of its own again."""
    ends = [n for n, step in enumerate(body) if step.opname == "RERAISE"]
    return body[: ends[0]] if ends else body


def _asserts(tried: list[dis.Instruction], beside: dict[str, Any]) -> bool:
    """Whether these steps contain an `assert`, or call a function that does."""
    if any(_is_assert(step) for step in tried):
        return True
    called = [beside.get(step.argval) for step in tried if step.opname == "LOAD_GLOBAL"]
    codes = (code for function in called for code, _ in _codes(function, set()))
    return any(_is_assert(step) for code in codes for step in _steps(code))


def _is_assert(step: dis.Instruction) -> bool:
    asserts = step.opname == "LOAD_COMMON_CONSTANT" and "AssertionError" in step.argrepr
    return asserts or step.opname == "LOAD_ASSERTION_ERROR"


def _uses(body: list[dis.Instruction], returns_count: bool) -> bool:
    """Whether an `except` raises, keeps or returns anything, so that a later line can see it."""
    bound = {body[0].argval} if body and body[0].opname == "STORE_FAST" else set()
    for step, before in zip(body, [None, *body], strict=False):
        if step.opname == "RAISE_VARARGS":
            return True
        if step.opname.startswith("STORE_") and step.argval not in bound:
            return True
        if returns_count and step.opname == "RETURN_CONST" and step.argval is not None:
            return True
        nothing = before is not None and before.opname == "LOAD_CONST" and before.argval is None
        if returns_count and step.opname == "RETURN_VALUE" and not nothing:
            return True
    names = {
        step.argval
        for step in body
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_ATTR", "LOAD_METHOD")
    }
    calls = any(step.opname.startswith("CALL") for step in body)
    return calls and bool(names - _ONLY_TELLS)
