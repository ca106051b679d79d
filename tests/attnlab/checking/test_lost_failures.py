"""How a student's test loses a failure, read from its text."""

from __future__ import annotations

import linecache
import time
import warnings
from contextlib import suppress
from itertools import count
from typing import Any

import pytest
import torch

from attnlab.checking.lost_failures import (
    FAILURE_CAUGHT,
    NO_REASON,
    RESULT_UNREAD,
    TUPLE_ASSERTED,
    catches_an_assert,
    lost_failure,
)

CELLS = count()


def made(body: str) -> Any:
    """A test of this body, with a helper beside it."""
    text = (
        "def helper(a, b):\n    assert (torch.equal(a, b), 'differs')\n"
        "def right(a, b):\n    assert torch.equal(a, b), 'differs'\n"
        "def same(a, b):\n    return torch.equal(a, b)\n"
        "def test(impl):\n    a = impl(torch.ones(2))\n    b = a.sum(-1, keepdim=True)\n"
    )
    text += "".join(f"    {line}\n" for line in body.splitlines())
    names = {"torch": torch, "suppress": suppress, "__name__": "a_notebook"}
    cell = f"<cell {next(CELLS)}>"
    linecache.cache[cell] = len(text), None, text.splitlines(keepends=True), cell
    with warnings.catch_warnings(action="ignore"):
        exec(compile(text, cell, "exec"), names)
    return names["test"]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("assert (torch.allclose(a, b), 'differs')", TUPLE_ASSERTED),
        ("for _ in range(2):\n    assert (torch.equal(a, b), 'differs')", TUPLE_ASSERTED),
        ("assert [torch.allclose(a, b), 'differs']", TUPLE_ASSERTED),
        ("helper(a, b)", TUPLE_ASSERTED),
        ("torch.allclose(a, b)", RESULT_UNREAD),
        ("torch.allclose(a, b.sum(-1), atol=1e-6)", RESULT_UNREAD),
        ("a.equal(b)", RESULT_UNREAD),
        ("(a == b).all()", RESULT_UNREAD),
        ("a.shape == b.shape", RESULT_UNREAD),
        ("with torch.no_grad():\n    torch.equal(a, b)", RESULT_UNREAD),
        ("same(a, b)", RESULT_UNREAD),
        ("ok = torch.equal(a, b)", RESULT_UNREAD),
        ("ok = torch.equal(a, b)\nok = a.shape == b.shape\nassert ok", RESULT_UNREAD),
        ("ok = same(a, b)\nok = (a - b).max() < 1e-8\nassert ok", RESULT_UNREAD),
        ("for _ in range(2):\n    ok = torch.equal(a, b)\nassert ok", RESULT_UNREAD),
        ("try:\n    right(a, b)\nexcept AssertionError:\n    pass", FAILURE_CAUGHT),
        ("ok = torch.equal(a, b)\nif a.ndim:\n    ok = same(a, b)\nassert ok", RESULT_UNREAD),
        ("def near(x, y):\n    return torch.allclose(x, y)\nnear(a, b)", RESULT_UNREAD),
        ("bool(torch.equal(a, b))", RESULT_UNREAD),
        ("def equal(x, y):\n    assert torch.equal(x, y)\nequal(a, b)", NO_REASON),
        ("def equal(x, y):\n    return torch.equal(x, y)\nequal(a, b)", RESULT_UNREAD),
        ("torch.all(a == b)", RESULT_UNREAD),
        ("a.shape == b.shape and torch.equal(a, b)", RESULT_UNREAD),
        ("not torch.equal(a, b)", RESULT_UNREAD),
        (
            "def near(x, y):\n    return x.ndim == 3 and bool((x - y).max() < 1)\nnear(a, b)",
            RESULT_UNREAD,
        ),
        ("try:\n    right(a, b)\nexcept:\n    pass", FAILURE_CAUGHT),
        ("with suppress(AssertionError):\n    right(a, b)", FAILURE_CAUGHT),
        ("assert torch.allclose(a, b), 'differs'", NO_REASON),
        ("assert a.shape == (2, 1)\nassert (a == b).all()", NO_REASON),
        ("torch.testing.assert_close(a, b)", NO_REASON),
        ("right(a, b)", NO_REASON),
        ("-a", NO_REASON),
        ("ok = a.shape == b.shape and torch.equal(a, b)\nassert ok", NO_REASON),
        ("assert same(a, b)", NO_REASON),
        ("ok = torch.equal(a, b)\nassert ok\nok = same(a, b)\nassert ok", NO_REASON),
        ("ok = True\nfor _ in range(2):\n    ok = torch.equal(a, b) and ok\nassert ok", NO_REASON),
        ("ok = torch.equal(a, b)\nok &= same(a, b)\nassert ok", NO_REASON),
        ("mask = a > 0\nmask = a == b\nassert mask.all()", NO_REASON),
        ("same = []\nsame.append(torch.equal(a, b))\nassert all(same)", NO_REASON),
        ("if not torch.equal(a, b):\n    raise AssertionError('differs')", NO_REASON),
        ("with torch.no_grad():\n    assert torch.equal(a, b)", NO_REASON),
        (
            "if a.ndim:\n    ok = same(a, b)\nelse:\n    ok = a.shape == b.shape\nassert ok",
            NO_REASON,
        ),
        (
            "def see(x):\n    if not x:\n        raise AssertionError\nsee((a == b).all())",
            NO_REASON,
        ),
        ("gone = (a < b).all(-1)\nassert not a[gone].any()", NO_REASON),
        ("try:\n    impl(a)\nexcept ValueError:\n    pass", NO_REASON),
        ("try:\n    impl(a)\nexcept ValueError:\n    return\nraise AssertionError", NO_REASON),
        ("print(torch.equal(a, b))", NO_REASON),
        ("return torch.equal(a, b)", NO_REASON),
    ],
)
def test_a_lost_failure_is_found(body, found):
    assert lost_failure(made(body)) == found


def test_loops_in_loops_take_no_time():
    """19 loops (Python allows 20): 5 s if the body of each one is followed twice."""
    lines = [f"{'    ' * depth}for _ in range(2):" for depth in range(19)]
    body = "\n".join([*lines, f"{'    ' * 19}ok = torch.equal(a, b)", "assert ok"])
    start = time.process_time()
    assert lost_failure(made(body)) == RESULT_UNREAD
    assert time.process_time() - start < 1


def test_a_test_that_is_not_a_function_has_no_reason():
    assert lost_failure(print) == NO_REASON


def test_a_test_with_a_decorator_inside_a_function():
    text = (
        "def make():\n"
        "    @torch.no_grad()\n"
        "    def test(impl):\n"
        "        torch.equal(impl(1), impl(2))\n"
        "    return test\n"
        "def test(impl):\n"
        "    assert torch.equal(impl(1), impl(2))\n"
    )
    linecache.cache["<nested>"] = len(text), None, text.splitlines(keepends=True), "<nested>"
    names = {"torch": torch, "__name__": "a_notebook"}
    exec(compile(text, "<nested>", "exec"), names)
    assert lost_failure(names["make"]()) == RESULT_UNREAD
    assert lost_failure(names["test"]) == NO_REASON


def test_a_test_whose_text_is_not_known_has_no_reason():
    names: dict[str, Any] = {}
    exec("def test(impl):\n    impl(1) == 2", names)
    assert lost_failure(names["test"]) == NO_REASON


def not_written(impl):
    """Words."""
    raise NotImplementedError


def not_written_yet(impl):
    raise NotImplementedError("later")


@pytest.mark.parametrize("test", [not_written, not_written_yet])
def test_a_test_that_is_not_written_has_no_failures(test):
    with pytest.raises(NotImplementedError):
        lost_failure(test)


@pytest.mark.parametrize(
    ("body", "caught"),
    [
        ("try:\n    assert torch.equal(a, b)\nexcept:\n    pass\nassert a.ndim == 3", True),
        ("try:\n    right(a, b)\nexcept AssertionError as e:\n    print(e)", True),
        (
            "for _ in range(2):\n    try:\n        right(a, b)\n    except:\n        break",
            True,
        ),
        ("try:\n    right(a, b)\nexcept (ValueError, AssertionError):\n    return False", True),
        (
            "try:\n    right(a, b)\nexcept ValueError:\n    raise\nexcept Exception:\n    pass",
            True,
        ),
        ("with suppress(AssertionError):\n    right(a, b)", True),
        ("try:\n    torch.testing.assert_close(a, b)\nexcept Exception:\n    pass", True),
        ("try:\n    if a[0] > b:\n        raise AssertionError\nexcept:\n    pass", True),
        ("try:\n    if a[0] > b:\n        raise ValueError('b')\nexcept:\n    pass", False),
        ("try:\n    right(a, b)\nexcept ValueError:\n    pass", False),
        ("try:\n    b = impl(a)\nexcept Exception:\n    pass\nassert torch.equal(a, b)", False),
        (
            "try:\n    right(a, b)\nexcept Exception as e:\n    raise AssertionError(e) from e",
            False,
        ),
        ("bad = []\ntry:\n    right(a, b)\nexcept Exception as e:\n    bad.append(e)", False),
        ("bad = False\ntry:\n    right(a, b)\nexcept:\n    bad = True\nassert not bad", False),
        ("try:\n    right(a, b)\nfinally:\n    print(a)", False),
        ("with torch.no_grad():\n    right(a, b)", False),
    ],
)
def test_an_assert_inside_an_except_that_does_nothing(body, caught):
    assert catches_an_assert(made(body)) == caught
