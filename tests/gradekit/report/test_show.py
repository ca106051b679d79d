"""`lab show`: times, points as a sum, checks, advice, and what came before."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

from gradekit.course import Course
from gradekit.errors import LabError, ReportError
from gradekit.gradebook.address import address_of
from gradekit.report.show import EarlierResult, show_hand_in
from gradekit.report.show_view import show_step, show_student
from gradekit.results.folder import journal_path
from gradekit.results.journal import Journal
from gradekit.results.records import State, SubmissionRecord
from gradekit.submissions.released import Released
from tests.helpers.gradebook import give_manual_mark
from tests.helpers.planted_class import LAB, ON_TIME, PLANTED, QUESTION, results_of


def printed(course: Course, student: str, step: str = "") -> str:
    console = Console(width=80, record=True, file=io.StringIO())
    shown = show_hand_in(course, LAB, student)
    if step:
        show_step(shown, step, console)
    else:
        show_student(shown, console)
    lines = [line.rstrip() for line in console.export_text().splitlines()]
    assert all(len(line) <= 80 for line in lines)
    return "\n".join(lines)


def test_a_late_hand_in_with_a_mistake(big_class: Course) -> None:
    text = printed(big_class, "s009")
    assert text.startswith(
        "Givens009 Familys009 (s009), section Mon\n"
        "lab01: Softmax, cross-entropy and a first attention\n"
        "Handed in Sat 19 Sep 2026, 12:00 CEST; due Fri 18 Sep 2026, 23:59 CEST.\n"
        "Handed in 1 day late: 10 % of the points are taken off.\n"
        "Score so far: 89 − 8.9 for lateness = 80.1 of 100 points.\n"
        "Not marked yet: In your own words.\n"
    )
    assert "1.1 Softmax: 7 of 14 points\n  ✗  0 of 7  Keeps its promises. (hidden)\n" in text
    assert "whole row without changing its softmax?" in text
    assert "1.2 Log-softmax: " not in text, "there is nothing to say about it"
    assert "Results so far" not in text, "it was graded once"


def test_one_step_shows_every_check_and_the_code(big_class: Course) -> None:
    for name in ("softmax", "1.1"):
        text = printed(big_class, "s009", name)
        assert "✓  7 of 7  Keeps its shape." in text
        assert "    def softmax(x, dim=-1):\n        e = x.exp()" in text
    assert "The student wrote nothing here." in printed(big_class, "s009", QUESTION)
    with pytest.raises(ReportError, match=r"no step 'sofmax'; did you mean softmax\?"):
        show_hand_in(big_class, LAB, "s009").step("sofmax")


def test_a_manual_mark_and_its_comment(small_class: Course) -> None:
    give_manual_mark(address_of(small_class), "s000", QUESTION, 2.5)
    text = printed(small_class, "s000")
    assert "Score: 98.5 of 100 points.\n" in text
    assert "A TA wrote: Well put." in text


def test_what_came_before(small_class: Course) -> None:
    released = Released.read(small_class.released(LAB))
    record = SubmissionRecord("s000", LAB, "second", State.GRADED, submitted_at=ON_TIME)
    results = results_of(released, {"softmax": PLANTED[0]})
    keys = {result.exercise: f"second {result.exercise}" for result in results}
    with Journal(journal_path(small_class, LAB)) as journal:
        journal.append_graded(record, results, keys)
        journal.append_graded(replace(record, state=State.OURS, digest="third"), (), {})
    shown = show_hand_in(small_class, LAB, "s000")
    assert shown.past == (
        EarlierResult(1, "graded", 96.0),
        EarlierResult(2, "graded", 89.0),
        EarlierResult(3, "broken: ours", None),
    )
    assert "  hand-in 2: 89 points (graded)" in printed(small_class, "s000")
    assert "Not graded: the grader failed." in printed(small_class, "s000")


def test_json_has_everything(big_class: Course) -> None:
    values = json.loads(json.dumps(show_hand_in(big_class, LAB, "s009").to_json()))
    assert values["id"] == "s009"
    assert (values["raw"], values["penalty"], values["score"], values["final"]) == (
        89, 8.9, pytest.approx(80.1), False,
    )  # fmt: skip
    step = values["steps"][0]
    assert step["mistakes"] == ["no_max_subtraction"]
    assert [check["earned"] for check in step["checks"]] == [7, 0]


@pytest.mark.parametrize(
    ("student", "told"),
    [
        ("s298", r"Givens298 Familys298 \(s298\) has not handed in lab01"),
        ("s2999", "students.csv has no student 's2999'; did you mean"),
        ("", "students.csv has no student ''"),
    ],
)
def test_nothing_to_show_is_one_sentence(big_class: Course, student: str, told: str) -> None:
    with pytest.raises(LabError, match=told):
        show_hand_in(big_class, LAB, student)


def test_a_hand_in_that_waits_for_grading_is_one_sentence(small_class: Course) -> None:
    (small_class.root / "submitted" / "s003" / LAB).mkdir(parents=True)
    with pytest.raises(ReportError, match="is not graded yet; `lab grade lab01` does that"):
        show_hand_in(small_class, LAB, "s003")
