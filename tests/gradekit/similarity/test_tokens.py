"""What counts as the same text: names, comments and layout do not matter, all else does."""

from __future__ import annotations

import re

import pytest

from gradekit.similarity.tokens import chosen_names, code_symbols, prose_symbols

CODE = """\
def softmax(x, dim=-1):
    shifted = x - x.amax(dim, keepdim=True)
    return shifted.exp() / shifted.exp().sum(dim, keepdim=True)
"""


def forms(text: str) -> list[str]:
    return [symbol.form for symbol in code_symbols(text, chosen_names([text]))]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("shifted", "s"),
        (r"\bx\b", "scores"),
        (r"\):\n", "):\n    '''My own words.'''\n"),
        ("return", "# a remark\n    return"),
        (r"\(dim, keepdim=True\)\n", "(\n        dim,\n        keepdim=True,\n    )\n"),
        ("    ", "  "),
        (r"\n    return", "; return"),
        ("x - x", "x-x"),
    ],
)
def test_these_changes_hide_nothing(before: str, after: str) -> None:
    changed = re.sub(before, after, CODE)
    assert changed != CODE
    assert forms(changed) == forms(CODE)


@pytest.mark.parametrize(
    ("before", "after"), [(".exp()", ".log()"), ("-1", "0"), ("True", "False"), (" / ", " * ")]
)
def test_these_changes_are_another_text(before: str, after: str) -> None:
    assert forms(CODE.replace(before, after)) != forms(CODE)


def test_a_keyword_keeps_its_name_although_a_parameter_has_it_too() -> None:
    one = "def f(dim):\n    return g(a, dim=dim)"
    assert forms(one) == forms("def f(axis):\n    return g(a, dim=axis)")
    assert forms(one) != forms("def f(dim):\n    return g(a, out=dim)")


def test_attributes_that_a_class_stores_are_names_of_its_own() -> None:
    one = "class A:\n    def go(self, x):\n        self.left = x\n        return self.left.T"
    assert forms(one) == forms(one.replace("left", "w"))
    assert forms(one) != forms(one.replace(".T", ".mT"))


def test_an_import_has_the_name_of_the_module_whatever_it_is_called() -> None:
    one = "import torch.nn.functional as F\nF.relu(2)"
    assert forms(one)[-6:] == forms(one.replace("F", "functional"))[-6:]


@pytest.mark.parametrize(
    "text",
    ["def f(:\n  x = 'open\n", "%time x\n!ls\ny = ((1", "\x00\ud800", "a\r\nb\fc", "(" * 5000],
)
def test_what_is_not_python_is_read_anyway(text: str) -> None:
    names = chosen_names([text])
    found = code_symbols(text, names)
    assert all(0 <= symbol.start <= symbol.stop <= len(text) + 1 for symbol in found)


def test_symbols_say_where_they_are() -> None:
    text = "# é\nx = foo(1)\n"
    found = [(s.form, text[s.start : s.stop]) for s in code_symbols(text, chosen_names([text]))]
    assert found[:5] == [("name", "x"), ("=", "="), ("foo", "foo"), ("(", "("), ("1", "1")]


def test_prose_is_its_words() -> None:
    assert [s.form for s in prose_symbols("It **overflows**: Über 88.")] == [
        "it", "overflows", "über", "88",
    ]  # fmt: skip
