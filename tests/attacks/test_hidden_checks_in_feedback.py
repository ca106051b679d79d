"""An answer copies the hidden checks of its own probe, to make feedback quote them."""

from __future__ import annotations

import pytest

from attnlab.checking.judges import Close
from attnlab.checking.observation import Raised, unpack
from attnlab.checking.verdict import PreparedCheck, judge_exercise
from gradekit.grading.quoting import QuotationFilter
from tests.helpers.two_graders import BLANK, points_and_run

FIND = """
import sys
def hidden():
    frame = sys._getframe(2)
    while "probes" not in frame.f_locals: frame = frame.f_back
    return frame.f_locals["probes"][-1].source.replace("\\n", "; ")
"""
WAYS = {
    "message": "def softmax(x, dim=-1): raise ValueError(hidden())",
    "familiar": "def softmax(x, dim=-1): raise IndexError('list index out of range' + hidden())",
    "name": "def softmax(x, dim=-1): raise NameError(f\"name '{hidden()[:40]}' is not defined\")",
    "exception": "def softmax(x, dim=-1): raise type(hidden()[:40], (Exception,), {})()",
    "text": "def softmax(x, dim=-1): return hidden()",
    "type": "def softmax(x, dim=-1): return type(hidden()[:99], (), {})()",
    "keys": "def softmax(x, dim=-1): return {hidden()[:199]: 1}",
    "missing": "def softmax(x, dim=-1):\n"
               "    from attnlab.checking.errors import MissingNameError\n"
               "    raise MissingNameError(hidden()[:99])",
    "shape": "import torch\ndef softmax(x, dim=-1):\n"
             "    return torch.zeros(0, *map(ord, hidden()[:7]))",
}  # fmt: skip
SIGNS = ("columns", "lab.softmax", "draw.normal", "100, 101, 102, 32")


def advice(sandbox, way: str, vetted: bool) -> str:
    """The advice on a visible check's answer that reveals the last check."""
    sources = (BLANK, FIND, WAYS[way])
    run = points_and_run(sandbox, *sources)[1]
    seen = unpack(run.observations["softmax", "rows"])
    right = {} if way == "keys" else __import__("torch").zeros(2, 3)
    prepared = PreparedCheck("rows", "Rows.", 1, False, Close(), right, {})
    vet = QuotationFilter(sources).vet if vetted else None
    return " ".join(judge_exercise([prepared], {"rows": seen}, [], vet).advice)


@pytest.mark.parametrize("way", WAYS)
def test_hidden_checks_are_not_quoted(namespaces, way):
    """The answer can read them, so only the rules for quotes can keep them secret."""
    naive, careful = (advice(namespaces, way, vetted) for vetted in (False, True))
    assert any(sign in naive for sign in SIGNS), "the attack does not even work"
    assert not any(sign in careful for sign in SIGNS)


@pytest.mark.parametrize(
    ("message", "quoted"),
    [
        (
            "The size of tensor a (3) must match the size of tensor b (5) at non-singleton "
            "dimension 1",
            True,
        ),
        ("'Tensor' object has no attribute 'summ'", True),
        ("'Tensor' object has no attribute 'from_the_hidden_check'", False),
        ("mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)", True),
        ("index 123456789012 is out of bounds for dimension 0 with size 2", False),
        ("STOLEN: lab.softmax(draw.normal(4, 3), 0)", False),
    ],
)
def test_well_known_messages_are_quoted(message, quoted):
    seen = Raised("RuntimeError", message, "return x.summ()")
    prepared = PreparedCheck("rows", "Rows.", 1, False, Close(), 1.0, {})
    vet = QuotationFilter(["def softmax(x):\n    return x.summ()"]).vet
    (shown,) = judge_exercise([prepared], {"rows": seen}, [], vet).advice
    assert (message in shown) is quoted
    assert "in the line `return x.summ()`" in shown


def test_a_line_is_quoted_if_the_notebook_contains_it():
    prepared = PreparedCheck("rows", "Rows.", 1, False, Close(), [1.0], {})
    vet = QuotationFilter(["def softmax(x):\n    return x.summ()"]).vet
    for line, quoted in (("return x.summ()", True), ("lab.softmax(draw.normal(4, 3))", False)):
        seen = [Raised("ValueError", "", line)]
        (shown,) = judge_exercise([prepared], {"rows": seen}, [], vet).advice
        assert (line in shown) is quoted
