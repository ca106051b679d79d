"""Why a student's test raises nothing: how its code loses the failure of a comparison.

What a test accepts shows that it rejects nothing, but not why. Its compiled code does: an `assert`
of a tuple, a comparison whose result nothing reads, or an `except` that catches the failure.

Tested in ``test_lost_failures.py``.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterator
from itertools import pairwise
from types import CodeType, FunctionType
from typing import Any

TUPLE_ASSERTED = "an `assert` of a tuple"
RESULT_UNREAD = "a comparison whose result nothing reads"
FAILURE_CAUGHT = "an `except`"
NO_REASON = "nothing of this kind"

_COMPARES = {"allclose", "equal", "isclose", "eq", "array_equal"}
_TO_ONE_BOOL = {"all", "any", "item"}
_SKIPPED = {"TO_BOOL", "NOP", "CACHE", "PRECALL", "PUSH_NULL"}
_ENDS = ("POP_TOP", "STORE_", "RETURN_", "JUMP", "RAISE_", "POP_JUMP", "RESUME", "FOR_ITER")


def lost_failure(test: Callable[..., Any]) -> str:
    """The way in which `test`, or a function that it calls, loses a failure.

    The two that are always a mistake come first: an `except` may be right in a test that expects
    an error. For a test that is not a function, the answer is :data:`NO_REASON`.
    """
    found = {kind for code in _codes(test, set()) for kind in _kinds(code)}
    kinds = (TUPLE_ASSERTED, RESULT_UNREAD, FAILURE_CAUGHT)
    return next((kind for kind in kinds if kind in found), NO_REASON)


def _codes(function: Any, seen: set[Any]) -> Iterator[CodeType]:
    """The code of a function and of all that it calls by name and that stands beside it."""
    if not isinstance(function, FunctionType) or function in seen:
        return
    seen.add(function)
    for code in _nested(function.__code__):
        yield code
        for name in code.co_names:
            other = function.__globals__.get(name)
            if getattr(other, "__module__", None) == function.__module__:
                yield from _codes(other, seen)


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)


def _kinds(code: CodeType) -> Iterator[str]:
    steps = [step for step in dis.get_instructions(code) if step.opname not in _SKIPPED]
    for step, after in pairwise(steps):
        if step.opname in ("BUILD_TUPLE", "BUILD_LIST") and "IF_TRUE" in after.opname:
            yield TUPLE_ASSERTED
        if step.opname == "CHECK_EXC_MATCH":
            yield FAILURE_CAUGHT
        if step.opname == "PUSH_EXC_INFO" and after.opname == "POP_TOP":  # a bare `except:`
            yield FAILURE_CAUGHT
    statement: list[dis.Instruction] = []
    for step in steps:
        if step.opname == "POP_TOP" and _compares(statement):
            yield RESULT_UNREAD
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
