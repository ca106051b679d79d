"""Code without names: only the definitions, printed again; never run."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from gradekit.report.excerpts import MOST_LETTERS, MOST_LINES, _definitions, _short
from gradekit.report.report import Report

CODE = '''\
# Ada Lovelace, matriculation 1815
AUTHOR = "Ada Lovelace"
def helper(): return AUTHOR

def softmax(x, dim=-1):
    """Written by Ada Lovelace."""
    e = x.exp()  # Ada
    return e / e.sum(dim, keepdim=True)
'''


def test_comments_docstrings_and_other_definitions_are_left_out() -> None:
    code = _definitions(CODE, ["softmax"])
    assert code == (
        "def softmax(x, dim=-1):\n    e = x.exp()\n    return e / e.sum(dim, keepdim=True)"
    )
    assert "Ada" not in code


def test_a_body_that_is_only_a_docstring_is_still_python() -> None:
    assert _definitions('class Net:\n    """Of Ada."""', ["Net"]) == "class Net:\n    pass"


@pytest.mark.parametrize(
    "text",
    [
        "def softmax(x:",
        "softmax = " + "-" * 30_000 + "1",
        "softmax = " + "(" * 300,
        "softmax = 1" + " " * 60_000,
        "softmax = '\0'",
        "",
    ],
)
def test_what_cannot_be_read_gives_nothing(text: str) -> None:
    assert _definitions(text, ["softmax"]) == ""


def test_a_strange_escape_warns_nobody() -> None:
    assert _definitions(r"softmax = '\d'", ["softmax"]) == r"softmax = '\\d'"


def test_long_code_is_cut() -> None:
    lines = _short("\n".join(["x" * 500] * 80)).splitlines()
    assert len(lines) == MOST_LINES + 1
    assert lines[-1] == "…"
    assert len(lines[0]) == MOST_LETTERS + 1


def excerpts(report: Report, mistake: str) -> Sequence[object]:
    (found,) = (m for m in report.misconceptions if m.mistakes == (mistake,))
    return [(e.students, e.code.splitlines()[0]) for e in report.excerpts[found]]


def test_equal_code_is_counted_once_and_no_code_is_no_excerpt(report: Report) -> None:
    assert excerpts(report, "no_max_subtraction") == [(41, "def softmax(x, dim=-1):")]
    assert excerpts(report, "double_softmax") == []
