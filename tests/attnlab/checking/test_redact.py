"""Advice on a hidden check contains no words and no numbers that the student's code chose."""

import pytest
import torch

from attnlab.checking.judges import Close
from attnlab.checking.observation import Missing, NoAnswer, Opaque, Raised
from attnlab.checking.verdict import PreparedCheck, judge_exercise

SECRET = "the inputs are 4 8 15 16 23 42"
NUMBER = 4815.162342


def advice(expected, seen, hidden):
    prepared = PreparedCheck("edges", "Is right at the edges.", 2, hidden, Close(), expected, {})
    return " ".join(judge_exercise([prepared], {"edges": seen}, []).advice)


def test_dtypes_and_devices_are_always_quoted():
    assert "float32, expected float64." in advice("float64", "float32", hidden=True)
    assert "cuda, expected cpu." in advice("cpu", "cuda", hidden=True)
    assert "float32" not in advice("right", "float32", hidden=True)


def test_a_wrong_word_is_not_called_a_wrong_type():
    assert advice("cosine", "sine", hidden=True).endswith("that word is not right here.")


def test_a_missing_weight_is_named_and_not_in_hidden_checks():
    missing = Raised("MissingWeightError", f"there is no weight {SECRET} of shape (2,)")
    assert SECRET in advice(1.0, missing, hidden=False)
    shown = advice(1.0, missing, hidden=True)
    assert "your module lacks a weight that the task names." in shown
    assert SECRET not in shown


@pytest.mark.parametrize(
    ("expected", "seen"),
    [
        (1.0, Raised("ValueError", SECRET, "x = f(x)")),
        (1.0, Raised(SECRET, "", "")),
        ([1.0], [Raised("ValueError", "", SECRET)]),
        (1.0, Raised("ForbiddenCallError", SECRET)),
        (1.0, Missing(SECRET)),
        (1.0, SECRET),
        ("right", SECRET),
        (1.0, Opaque(SECRET)),
        ({"a": 1.0}, {SECRET: 1.0}),
    ],
)
def test_words_of_the_students_code_are_not_repeated(expected, seen):
    assert SECRET in advice(expected, seen, hidden=False)
    assert SECRET not in advice(expected, seen, hidden=True)
    assert (
        "at the edges" in advice(expected, seen, hidden=True)
        or "notebook" in advice(expected, seen, hidden=True)
        or "calls" in advice(expected, seen, hidden=True)
    )


def test_numbers_of_the_students_code_are_not_repeated():
    assert "4815.16" in advice(1.0, NUMBER, hidden=False)
    assert "4815" not in advice(1.0, NUMBER, hidden=True)
    assert "4815" not in advice(torch.ones(()), torch.tensor(NUMBER), hidden=True)


def test_pythons_own_exceptions_and_the_line_stay_helpful():
    said = advice(1.0, Raised("IndexError", SECRET, "row = x[7]"), hidden=True)
    assert "IndexError" in said
    assert "row = x[7]" in said


def test_a_forbidden_call_is_still_named():
    assert "torch.softmax" in advice(
        1.0, Raised("ForbiddenCallError", "torch.softmax"), hidden=True
    )


def test_a_missing_answer_has_a_reason():
    said = advice(1.0, NoAnswer("stopped after 5 s: is there a loop without an end?"), hidden=True)
    assert "No answer came" in said
    assert "loop without an end" in said


def test_of_torchs_messages_a_fixed_part_stays_with_its_question():
    seen = Raised("RuntimeError", f"{SECRET}: a leaf is used in an in-place operation {SECRET}")
    shown = advice(1.0, seen, hidden=True)
    assert "RuntimeError: … in-place operation. Which line writes into" in shown
    assert SECRET not in shown


def test_how_a_hidden_number_is_off_is_said_without_the_number():
    shown = advice(0.4815, 48.15, hidden=True)
    assert "your number is not right. It is off by a factor of 100" in shown
    assert "48" not in shown.replace("100", "")
