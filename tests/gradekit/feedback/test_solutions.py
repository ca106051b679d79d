"""The right answers are told after a lab has closed, and not before; every word is escaped."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
import torch

from gradekit.course import Course, Extensions, load_course
from gradekit.errors import CourseError
from gradekit.exercise.loader import CourseLabs
from gradekit.feedback.page import render, with_solutions
from gradekit.feedback.solutions import RightAnswer, Solution, Solutions, shown, solutions_of
from gradekit.late import closes
from tests.gradekit.feedback.test_page import course, page, released  # noqa: F401 - fixtures
from tests.helpers.our_labs import CLINIC, OUR_LABS

ROOT = Path(__file__).resolve().parents[3]
REAL = load_course(ROOT)
LABS = CourseLabs(REAL)
ONE_SECOND = timedelta(seconds=1)
EVIL = "<script>alert(1)</script>"


def test_before_the_lab_has_closed_nothing_is_told() -> None:
    end = closes(REAL, "lab01")
    with pytest.raises(CourseError, match=f"lab01 can still earn points until {end:%a} {end.day}"):
        solutions_of(LABS, "lab01", end)


def test_an_extension_keeps_the_answers_closed() -> None:
    own = Extensions({"lab01": {"ada": REAL.lab("lab02").due}})
    longer = CourseLabs(REAL.model_copy(update={"extensions": own}))
    with pytest.raises(CourseError, match="extensions included"):
        solutions_of(longer, "lab01", closes(REAL, "lab01") + ONE_SECOND)


@pytest.mark.parametrize("lab", OUR_LABS)
def test_every_step_item_and_question_has_its_answer(lab: str) -> None:
    told = solutions_of(LABS, lab, closes(REAL, lab) + ONE_SECOND)
    for name, solution in told.exercises.items():
        assert solution.code.strip(), name
        for mark in ("SOLUTION", "# TODO", "NotImplementedError"):
            assert mark not in solution.code, name
        compile(solution.code, name, "exec")
        for item in solution.items:
            assert item.answer, item.name
            assert len(item.reason.split()) >= 4, f"{lab} {name} {item.name} gives no reason"
    for name in ("predictions", "errata"):
        assert name not in told.exercises or told.exercises[name].items
    assert not any("\n" in text.replace("\n\n", "") for text in told.texts.values())
    sentences = {name.replace("fix_", "cause_") for name in told.exercises if lab == CLINIC}
    questions = {name for name in sentences if name.startswith("cause_")} | {"explain"}
    assert set(told.texts) == (questions if lab != "lab00" else set())


def test_a_program_that_was_to_be_fixed_is_told_once_and_right() -> None:
    told = solutions_of(LABS, CLINIC, closes(REAL, CLINIC) + ONE_SECOND)
    code = told.exercises["fix_slow_optimiser"].code
    assert code.count("class Adam") == 1
    assert "value=1 - beta2" in code


def test_the_page_tells_them_escaped(course: Course, released) -> None:  # noqa: F811
    made = page(course, released)
    assert "A correct answer" not in render(made)
    items = (RightAnswer("P1", f"what {EVIL} is", f"5 {EVIL}", f"because `5` {EVIL}"),)
    softmax = Solution(f"right = 1  # {EVIL}", items)
    html = render(with_solutions(made, Solutions({"softmax": softmax}, {"explain": f"So {EVIL}"})))
    assert "<script" not in html
    assert "<summary>A correct answer</summary><pre " in html
    assert ">right = 1  # &lt;script&gt;" in html
    assert "<li>P1, what &lt;script&gt;" in html
    assert "because <code>5</code>" in html
    assert "A model answer" in html


def test_a_step_without_a_known_answer_is_left_as_it_is(
    course: Course,  # noqa: F811
    released,  # noqa: F811
) -> None:
    made = page(course, released)
    assert render(with_solutions(made, Solutions({}, {}))) == render(made)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1246712.0, "1246712"), (0.3156, "0.3156"), (2 / 3, "0.6667"), ("none", "none"),
        ([0.93, 0.165], "0.93, 0.165"), (torch.tensor([1, 3]), "1, 3"), (torch.tensor(2.5), "2.5"),
        (float("inf"), "inf"),
    ],
)  # fmt: skip
def test_numbers_are_written_as_people_do(value: object, text: str) -> None:
    assert shown(value) == text
