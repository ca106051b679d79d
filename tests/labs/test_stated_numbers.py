"""Numbers in a lab's text that its exercise files decide: hours, points, counts of versions."""

from __future__ import annotations

import re

import pytest

from gradekit.exercise.definition import Check, Exercise
from tests.helpers.our_labs import CLINIC, LABS, OUR_LABS

NUMBERS = {
    "a": 1,
    "two": 2,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "ten": 10,
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
}
# A step that runs on the student's other steps says so, in the words of its lab.
CHAINED = {
    "lab01": "The last point of this step uses your own softmax and your own attention together.",
    "lab02": "Two more points test all of your own steps together.",
    "lab03": "One check of this step, 2 points, takes your own `qkv` (3.1)",
    "lab04": "Two points of this step are for your own steps together.",
    "lab10": "One check, of 1 point, runs on your own 10.1, 10.2 and 10.3 together",
}
POINTS = {"lab01": 1, "lab02": 2, "lab03": 2, "lab04": 2, "lab10": 1}


def prose(lab: str) -> str:
    """The text of all prose cells, on one line."""
    cells = LABS[lab].source.cells
    lines = (line for cell in cells if cell.is_markdown for line in cell.text.splitlines())
    return " ".join(" ".join(line.lstrip("# ") for line in lines).split())


def checks(lab: str) -> list[tuple[Exercise, Check]]:
    return [(exercise, check) for exercise in LABS[lab].exercises for check in exercise.checks]


def is_about(number: int, words: str) -> bool:
    """Whether `words`, such as "more than twenty", describe `number`."""
    stated = NUMBERS[words.split()[-1]]
    if words.startswith("more than"):
        return stated < number < stated + 10
    return abs(number - stated) <= 0.2 * stated


@pytest.mark.parametrize("lab", [lab for lab in OUR_LABS if lab not in ("lab00", CLINIC)])
def test_the_text_says_on_how_many_versions_a_test_is_tried_and_how_it_earns(lab):
    (check,) = (check for _, check in checks(lab) if check.versions_of)
    tested = LABS[lab][check.versions_of]
    wrong = len(check.versions or tested.mistakes)
    stated = re.findall(r"((?:about|more than) \w+) wrong versions", prose(lab))
    assert [is_about(wrong, words) for words in stated] == [True], (wrong, stated)
    right = len(tested.references) + len(tested.right_versions) + len(tested.other_programs)
    few = re.findall(r"(about ten|a few|some) right ones", prose(lab))
    assert len(few) == 1
    assert 8 <= right <= 12 if few == ["about ten"] else 3 <= right <= 10, right
    earns = "the share of wrong versions that it rejects, times the share of right ones that it"
    assert f"Your points are {earns} accepts." in prose(lab)


@pytest.mark.parametrize("lab", [lab for lab in OUR_LABS if lab not in ("lab00", CLINIC)])
def test_the_hours_in_the_head_are_the_minutes_of_the_steps(lab):
    (words,) = re.findall(r"\| time \| about (\w+) hours", prose(lab))
    source = LABS[lab].source
    graded = [exercise for exercise in LABS[lab].exercises if exercise.points]
    minutes = sum(source.step(exercise.name).minutes for exercise in graded)
    assert abs(NUMBERS[words] - minutes / 60) < 1, minutes


@pytest.mark.parametrize("lab", [lab for lab in OUR_LABS if lab not in ("lab00", CLINIC)])
def test_the_head_names_the_one_step_whose_check_runs_on_the_students_other_steps(lab):
    ((exercise, check),) = (found for found in checks(lab) if found[1].chained)
    number = LABS[lab].source.step(exercise.name).number
    assert f"{number} names the one exception" in prose(lab)
    if lab in CHAINED:
        assert CHAINED[lab] in prose(lab)
        assert check.points == POINTS[lab]
