"""`lab show --inputs` at 80 columns; nothing that a student wrote steers the terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from gradekit.course import Course
from gradekit.grading.task import FailedCheck, Replayed, ShownCall
from gradekit.report.inputs_view import show_inputs
from gradekit.report.show import Shown, show_hand_in
from tests.helpers.planted_class import LAB

FAILED = FailedCheck(
    name="another_axis",
    title="Along the first axis.",
    hidden=True,
    file="autograder/exercises/lab01/softmax.py",
    case="T = 1",
    calls=(ShownCall("softmax", (("x", "float64 of shape (1, 2)\n[[0.5 2. ]]"), ("dim", "0"))),),
    more_calls=3,
    place="T = 1, [0]",
    expected="float64 of shape (1, 2)\n[[1. 1.]]",
    seen="ValueError: [red]\x1b[31m no",
    difference="your code stopped with ValueError: [red]\x1b[31m no",
)


@pytest.fixture
def shown(big_class: Course) -> Shown:
    return show_hand_in(big_class, LAB, "s009")


def printed(shown: Shown, *replayed: Replayed) -> str:
    console = Console(width=80, record=True, file=io.StringIO(), color_system="truecolor")
    show_inputs(shown, replayed, console)
    lines = [line.rstrip() for line in console.export_text().splitlines()]
    assert all(len(line) <= 80 for line in lines)
    return "\n".join(lines)


def test_inputs_stand_before_both_results(shown: Shown) -> None:
    text = printed(shown, Replayed("softmax", 7, (FAILED,)))
    assert (
        """
1.1 Softmax
  ✗ Along the first axis.
    (another_axis in autograder/exercises/lab01/softmax.py, hidden)
    In the case “T = 1”:
    Inputs:
      softmax(x, dim)
        x = float64 of shape (1, 2)
        [[0.5 2. ]]
        dim = 0
      … and 3 more calls in this check
    Expected at T = 1, [0]:
      float64 of shape (1, 2)
      [[1. 1.]]
    Came out:
"""
        in text
    )
    assert "  ValueError: [red]�[31m no\n" in text
    assert "\x1b" not in text
    assert "other students get the same inputs" in text


def test_another_result_than_the_recorded_one_is_said(shown: Shown) -> None:
    text = " ".join(printed(shown, Replayed("softmax", 14, ())).split())
    assert "All its checks passed in this run." in text
    assert "This run gives 14 points, and the recorded one gave 7: the exercise has changed" in text


def test_which_steps_run_again(shown: Shown) -> None:
    assert shown.failed_steps() == ("softmax",)
    assert shown.failed_steps("1.1") == ("softmax",)
    assert shown.failed_steps("log_softmax") == ()
