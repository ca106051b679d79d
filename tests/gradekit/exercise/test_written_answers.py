"""Declared predictions and errata: their checks, and what right and wrong entries earn."""

import math

import pytest
import torch

from attnlab.checking.verdict import judge_exercise
from gradekit.exercise import Errata, Item, Prediction, Predictions
from gradekit.exercise.loader import LabExercises
from gradekit.exercise.source import Source
from gradekit.exercise.standalone import standalone_source
from gradekit.exercise.variants import Variants

REASON = "the slide is wrong about it"


def predictions():
    made = Predictions(
        {
            "P1": Prediction("a share.", points=1, right=0.25, atol=1e-3),
            "P2": Prediction("a pair.", points=2, right=[1.0, 7.8], atol=0.06),
        },
        answered="Both questions have answers.",
    )
    made.wrong("all_of_it", "P1: what do the shares sum to?", P1=1.0)
    made.wrong("not_a_number", "P1: does it overflow?", P1=math.nan)
    made.also_right_with("tensors", P1=torch.tensor(0.25), P2=torch.tensor([1.0, 7.8]))
    return made


def errata(**options):
    made = Errata(
        {
            "N1": Item("the weight.", points=1, says=0.3, right=0.31, reason=REASON, atol=5e-3),
            "N2": Item("the count.", points=2, says=10, right=15, reason=REASON),
        },
        **options,
    )
    made.wrong("believed", "N2: count again.", N2=(10, 10, REASON))
    made.also_right_with("lists", N1=[torch.tensor(0.3), 0.312, "rounded in the wrong place"])
    return made


def variants(exercise):
    exercise.lab, exercise.name, exercise.title = "lab01", "answers", "answers"
    names = {exercise.answers[0]: exercise.right}
    return Variants(LabExercises("lab01", (exercise,), names, Source(__file__, ())))


def verdict(exercise, answer):
    asked = variants(exercise)
    seen = {
        check.name: asked.run(exercise, check, 0, {exercise.answers[0]: answer})
        for check in exercise.checks
    }
    known = [mistake.known for mistake in exercise.mistakes]
    return judge_exercise(asked.prepared_checks(exercise, 0), seen, known)


@pytest.mark.parametrize("made", [predictions(), errata(says_points=1, reasons_points=0.5)])
def test_the_right_answers_earn_everything_and_every_right_version_does(made):
    assert verdict(made, made.right).earned == made.points
    for version in made.right_versions:
        assert verdict(made, version.names[made.answers[0]]).earned == made.points


def test_each_prediction_is_hidden_and_costs_its_own_points():
    made = predictions()
    assert [(c.name, c.hidden, c.points) for c in made.checks] == [
        ("all_answered", False, 1),
        ("P1", True, 1),
        ("P2", True, 2),
    ]
    assert made.checks[1].title == "P1: a share."
    judged = verdict(made, {**made.right, "P1": 0.5})
    assert judged.earned == 3


def test_a_wrong_entry_gets_its_advice():
    made = predictions()
    earned = {}
    for mistake in made.mistakes:
        judged = verdict(made, mistake.names["predictions"])
        earned[mistake.name] = judged.earned
        assert mistake.advice in judged.advice
    # Only text instead of a number costs the visible check's point, too.
    assert earned == {"number_as_text": 2, "all_of_it": 3, "not_a_number": 3}


def test_answers_of_another_kind_cost_the_visible_point():
    made = predictions()
    assert verdict(made, {**made.right, "P2": 1.0}).earned == 1
    assert verdict(made, {}).earned == 0


def test_errata_with_the_slides_numbers_in_a_visible_check():
    made = errata(says_points=1, reasons_points=0.5)
    names = ["what_the_slides_say", "reasons", "N1", "N2"]
    assert [check.name for check in made.checks] == names
    assert [check.hidden for check in made.checks] == [False, False, True, True]
    right = made.right
    assert verdict(made, {**right, "N1": (0.4, 0.31, REASON)}).earned == 3.5
    assert verdict(made, {**right, "N1": (0.3, 0.31, "wrong")}).earned == 4
    assert verdict(made, {**right, "N2": (10, 10, REASON)}).earned == 2.5


def test_errata_with_both_numbers_in_hidden_checks():
    made = errata(says_points=0, reasons_points=1)
    assert [check.name for check in made.checks] == ["three_parts", "N1", "N2"]
    right = made.right
    assert verdict(made, right).earned == made.points == 4
    assert verdict(made, {**right, "N1": (0.4, 0.31, REASON)}).earned == 3
    assert verdict(made, {**right, "N2": ("ten", 15, REASON)}).earned == 1


def test_no_check_holds_an_expected_number():
    for made in (predictions(), errata(says_points=1, reasons_points=1)):
        for check in made.checks:
            text = standalone_source(check.probe)
            assert "0.25" not in text
            assert "0.31" not in text
            assert "15" not in text


def test_a_wrong_number_that_no_mistake_explains_gets_the_items_question():
    made = Predictions(
        {"P1": Prediction("a share.", points=1, right=0.3, question="What is it a share of?")},
        answered="The question has an answer.",
    )
    made.wrong("all_of_it", "P1: what do the shares sum to?", P1=1.0)
    assert verdict(made, {"P1": 0.77}).advice[-1].endswith("What is it a share of?")
    assert "share of" not in verdict(made, {"P1": 30.0}).advice[-1]  # a slip has its own question
    assert "share of" not in verdict(made, {"P1": "much"}).advice[-1]


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"N1": (0.31, 0.3, REASON)}, "N1_swapped"),
        ({"N1": (0.31, 0.3, REASON), "N2": (15, 10, REASON)}, "N1_N2_swapped"),
        ({"N2": [15.0, torch.tensor(15), REASON]}, "N2_second_twice"),
        ({"N2": (10, 10, REASON)}, "believed"),  # declared before, with advice of its own
    ],
)
def test_numbers_that_are_mixed_up_are_named(given, named):
    exercise = errata(says_points=1, reasons_points=1)
    exercise.numbers_mixed_up("Which is on the slide?")
    found = verdict(exercise, {**exercise.right, **given})
    assert found.mistakes == (named,)
    names = [
        m.name for m in exercise.mistakes if m.name not in ("second_as_text", "second_as_list")
    ]
    assert len(names) == len(set(names)) == 7, "2 items, 3 ways to swap, 2 + 2 numbers given twice"


@pytest.mark.parametrize("options", [{"says_points": 1}, {"says_points": 0}])
@pytest.mark.parametrize(
    ("second", "named"), [("a third", "second_as_text"), ([0.31] * 3, "second_as_list")]
)
def test_a_second_part_that_is_no_number_is_seen_before_the_hand_in(options, second, named):
    exercise = errata(**options, reasons_points=1)
    found = verdict(exercise, {**exercise.right, "N1": (0.3, second, REASON)})
    assert found.mistakes == (named,)
    assert [one.check.hidden for one in found.outcomes if not one.passed] == [False, True]
