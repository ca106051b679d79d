"""The names that code binds and reads."""

from __future__ import annotations

import ast
import dis
import inspect
import tracemalloc
import warnings
from collections.abc import Callable

import pytest

from gradekit.exercise import definition
from gradekit.python_names import global_names_read_by, names_bound_by, names_bound_in, parsed
from tests.helpers.cpu_time import takes_less_than


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
    text = line * (2**24 // len(line))
    assert "softmax" not in names_bound_in(text)
    assert takes_less_than(0.5, lambda: names_bound_in(text))


def peak_bytes(work: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("dot", [".", " . ", ".\\\n", "\\\r\n.\t", ".\u2118"])
@pytest.mark.parametrize("line", ["import {}", "x = 1; from {} import *", "from . import x, {}"])
def test_a_dotted_name_without_end_does_not_take_all_memory(line: str, dot: str) -> None:
    text = line.format(dot.join("a" * 3000))

    def refused() -> None:
        with pytest.raises(SyntaxError, match="too many parts"):
            parsed(text)

    if line == "import {}" and dot == ".":
        assert peak_bytes(lambda: ast.parse(text)) > 1000 * len(text), "Python's parser takes it"
    assert peak_bytes(refused) < 20 * len(text) + 2**16


@pytest.mark.parametrize(
    "text", ["a." * 250_000, ("a." * 99 + "(") * 2_500, "a" * 500_000, "." * 500_000]
)
def test_the_search_for_dotted_names_does_not_keep_the_grader_busy(text: str) -> None:
    def search() -> None:
        with pytest.raises((SyntaxError, RecursionError, MemoryError)):
            parsed(f"({text}")

    assert takes_less_than(3, search)


@pytest.mark.parametrize("text", ["f'{}'", 'x = 1; y = rF"""{}"""', "g(a) + (f'' '{}')", "f'{} "])
def test_an_f_string_of_many_fields_does_not_keep_the_grader_busy(text: str) -> None:
    long = text.replace("{}", "{x}" * 30_000)

    def refused() -> None:
        with pytest.raises(SyntaxError, match="too many fields"):
            parsed(long)

    if text == "f'{}'":
        assert not takes_less_than(0.5, lambda: ast.parse(long)), "Python's parser is busy"
    assert takes_less_than(0.5, refused)


def test_a_long_table_is_no_f_string() -> None:
    assert len(parsed("table = [" + "{'a': 1}, " * 3000 + "]").body) == 1
    assert len(parsed(f"print(f'{'{x}' * 99}')").body) == 1


def test_students_code_is_parsed_without_warnings() -> None:
    deep = f"import torch.nn.functional as F\nx = {'.'.join('a' * 99)}\ny = '\\d'  # {'...' * 99}\n"
    with warnings.catch_warnings(action="error"):
        assert len(parsed(deep).body) == 3


def test_names_are_read_from_functions_classes_and_comprehensions() -> None:
    text = (
        "class A(base):\n    def f(self, x):\n        return [g(y.attribute) for y in h(x)]\n"
        "def k(z=default):\n    local = m\n    def inner(): return n, local\n    return inner\n"
    )
    assert set(global_names_read_by(compile(text, "<text>", "exec"))) == {"g", "h", "m", "n"}


def test_names_beyond_the_first_256_are_read() -> None:
    """Their instruction needs a second one before it, which holds the rest of the number."""
    names = [f"name{number}" for number in range(700)]
    code = compile(f"def f():\n    return {', '.join(names)}\n", "<text>", "exec")
    assert list(global_names_read_by(code)) == names


def test_the_same_names_as_pythons_own_disassembler() -> None:
    code = compile(inspect.getsource(definition), "<text>", "exec")
    found, waiting = [], [code]
    while waiting:
        one = waiting.pop()
        found += [i.argval for i in dis.get_instructions(one) if i.opname == "LOAD_GLOBAL"]
        waiting += [constant for constant in one.co_consts if inspect.iscode(constant)]
    assert len(found) > 50
    assert sorted(global_names_read_by(code)) == sorted(found)
