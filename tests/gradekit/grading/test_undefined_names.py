"""A name is undefined because its cell stopped: the student reads why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gradekit.grading.grader import LabGrader
from gradekit.grading.task import GraderSpec
from gradekit.grading.undefined_names import stopped_definitions
from gradekit.sandbox.result import CellRun
from gradekit.submissions.folder import find_submissions
from gradekit.submissions.submission import read_submission
from gradekit.untrusted.messages import Cell
from tests.helpers import tiny_class
from tests.helpers.tiny_class import LAB


def ran(*cells: tuple[str, str, str]) -> dict[str, str]:
    """What stopped cells, each given with its text and its exception ("" for none)."""
    runs = []
    for number, (_, name, words) in enumerate(cells):
        error = {"output_type": "error", "ename": name, "evalue": words, "traceback": []}
        outputs: tuple[dict[str, Any], ...] = (error,) if name else ()
        runs.append(CellRun(str(number), outputs, "error" if name else "ok"))
    return stopped_definitions([Cell(str(n), c[0]) for n, c in enumerate(cells)], runs)


def test_an_exception_explains_all_names_that_its_cell_would_bind() -> None:
    words = "'(' was never closed (<a>, line 1)"
    syntax = ("def f(x:\n    pass\nclass C: ...", "SyntaxError", words)
    said = "SyntaxError: '(' was never closed (line 1)"
    assert ran(syntax, ("g = f", "NameError", "")) == {"f": said, "C": said, "g": "NameError"}


def test_the_last_cell_that_binds_a_name_counts() -> None:
    stopped, good = ("def f(): ...", "ValueError", "no"), ("def f(): ...", "", "")
    assert ran(stopped, good) == {}
    assert ran(good, stopped) == {"f": "ValueError: no"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("\n\n  one `two`\x1b[2J \nthree", "Mine: one 'two'[2J"),
        ("a" * 500, f"Mine: {'a' * 153}…"),
        ("it is (<b>, line 1) <i>.", "Mine: it is (<b>, line 1) <i>"),
    ],
)
def test_its_message_becomes_one_short_line(words: str, said: str) -> None:
    assert ran(("x = 1", "Mine", words)) == {"x": said}


def test_an_unknown_state_of_a_cell_is_an_error() -> None:
    lost = CellRun("0", (), "lost")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="a cell's run has the state 'lost'"):
        stopped_definitions([Cell("0", "x = 1")], [lost])


BROKEN = {
    "def softmax(x, dim=-1:\n    return x\n": "SyntaxError: ",
    "def softmax(x, dim=axis):\n    return x\n": "NameError: name 'axis' is not defined",
    "def softmax(x, dim=-1):\nreturn x\n": "IndentationError: expected an indented block",
}


def test_advice_says_what_stopped_the_cell(tmp_path: Path) -> None:
    course = tiny_class.write_course(tmp_path / "tiny")
    for number, source in enumerate(BROKEN):
        book = tiny_class.notebook(course.root, softmax=source)
        tiny_class.hand_in(course.root, f"s{number}", book)
    with LabGrader(GraderSpec(course, LAB, "none", b"a secret")) as grader:
        for submitted, said in zip(
            find_submissions(course.root, LAB), BROKEN.values(), strict=True
        ):
            graded = grader.grade(read_submission(submitted, grader.released))
            found = {result.exercise: result for result in graded.results}["softmax"]
            assert found.earned == 0
            (sentence,) = found.advice
            assert sentence.startswith(
                f"Your cell for `softmax` stopped before defining it: {said}"
            )
