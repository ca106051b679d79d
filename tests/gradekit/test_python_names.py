"""The names that code binds."""

from __future__ import annotations

import ast
import time

import pytest

from gradekit.python_names import names_bound_by, names_bound_in


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def f(x): y = x", ("f",)),
        ("async def f(): pass", ("f",)),
        ("class C:\n    inner = 1", ("C",)),
        ("import torch.nn, math as m", ("torch", "m")),
        ("from torch import exp, log as ln", ("exp", "ln")),
        ("from __future__ import annotations", ()),
        ("a = b = 1", ("a", "b")),
        ("a, (b, *c) = d", ("a", "b", "c")),
        ("a[i] = b.c = 1", ()),
        ("a: int = 1", ("a",)),
        ("a == 1", ()),
        ("if True:\n    a = 1", ()),
    ],
)
def test_a_statement_binds(text: str, names: tuple[str, ...]) -> None:
    (statement,) = ast.parse(text).body
    assert names_bound_by(statement) == names


def test_names_are_found_at_the_start_of_lines_even_in_broken_code() -> None:
    text = (
        "def a(x:\n    inner = 1\nasync def b(): pass\nclass C: ...\nd: int = 3\ne = 4\n"
        "not_e == 5\nfrom torch import softmax as f, g\nimport h\nfor not_i in x: pass\n"
    )
    assert names_bound_in(text) - {"softmax", "as"} == {"a", "b", "C", "d", "e", "f", "g", "h"}


@pytest.mark.parametrize(
    "line",
    [
        "\n",
        "def softmax_\n",
        "from x " + "import " * 30 + "\n",
        "import softma" * 20,
        "async ",
        "a" * 300 + ":" + "b" * 300 + "\n",
        "from " + "a." * 1000,
        "def ",
        "\t",
    ],
)
def test_long_texts_do_not_keep_the_grader_busy(line: str) -> None:
    start = time.process_time()
    assert "softmax" not in names_bound_in(line * (2**24 // len(line)))
    assert time.process_time() - start < 0.5
