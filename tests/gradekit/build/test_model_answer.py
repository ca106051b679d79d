"""The model answer and the mark scheme in a question's cell."""

from __future__ import annotations

import pytest

from gradekit.build.model_answer import MarkItem, ModelAnswer, model_answer
from gradekit.errors import CourseError

CELL = """\
Why?

<!-- BEGIN SOLUTION -->
Because it is.
{}<!-- END SOLUTION -->"""
SCHEME = "<!-- BEGIN MARK SCHEME -->\n{}\n<!-- END MARK SCHEME -->\n"


def read(lines: str) -> ModelAnswer:
    return model_answer(CELL.format(SCHEME.format(lines)), "lab01, line 7", 4)


def test_a_cell_may_have_both_one_or_none() -> None:
    assert model_answer("Why?", "", 4) == ModelAnswer()
    assert model_answer(CELL.format(""), "", 4) == ModelAnswer("Because it is.")
    assert read("- 3: says so\n  in two lines\n- 1: politely") == ModelAnswer(
        "Because it is.", (MarkItem(3, "says so in two lines"), MarkItem(1, "politely"))
    )


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("- three: says so", "lab01, line 7: '- three: says so' is not a line of a mark scheme"),
        ("- 3: says so", "1 items with 3 points, and the question has 4"),
        ("\n".join(["- 0.4: part"] * 10), "at most 9 items"),
    ],
)
def test_a_mistake_in_it_is_one_sentence(lines: str, message: str) -> None:
    with pytest.raises(CourseError, match=message):
        read(lines)
