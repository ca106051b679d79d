"""A student's observation is a known mistake's only if it is wrong in the same way."""

import math

import pytest
import torch

from attnlab.checking.agreement import agrees
from attnlab.checking.judges import Close, Difference, SameShares, Within
from attnlab.checking.observation import Raised

RIGHT = torch.tensor([0.25, 0.75], dtype=torch.float64)


def agree(mistaken, seen, judge=None, expected=RIGHT):
    judge = judge or Close()
    return agrees(judge, expected, mistaken, seen, judge.compare(expected, seen) is None)


def test_a_mistake_that_passes_a_check_does_not_agree_where_the_student_fails():
    assert not agree(RIGHT + 1e-10, RIGHT + 2e-9)
    assert not agree({"a": RIGHT}, {"a": RIGHT + 5e-8}, expected={"a": RIGHT})


@pytest.mark.parametrize(
    ("mistake", "student", "same"),
    [(1e-8, 1e-8, True), (1e-8, 1.05e-8, True), (1e-8, 5e-8, False), (0.5, 0.5 + 1e-8, True),
     (0.5, 0.5 + 1e-5, False), (2e-8, -2e-8, False)],
)  # fmt: skip
def test_the_student_must_be_off_by_as_much_as_the_mistake(mistake, student, same):
    assert agree(RIGHT + mistake, RIGHT + student) is same
    assert agree([RIGHT + mistake], [RIGHT + student], expected=[RIGHT]) is same
    assert agree(0.25 + mistake, 0.25 + student, expected=0.25) is same


@pytest.mark.parametrize(("written", "same"), [(0.59, True), (0.594, True), (0.6, False)])
def test_a_number_that_students_write_down_may_be_rounded(written, same):
    rounded = Close(atol=5e-3)
    assert agree(0.59, written, rounded, 0.25) is same
    assert agree({"N1": [0.59]}, {"N1": [written]}, rounded, {"N1": [0.25]}) is same
    computed = torch.tensor([0.25]), torch.tensor([0.59]), torch.tensor([written])
    assert agree(*computed[1:], rounded, computed[0]) is (written == 0.59)


@pytest.mark.parametrize(
    ("student", "same"),
    [
        ("The size of tensor a (5) must match the size of tensor b (7)", True),
        ("mat1 and mat2 shapes cannot be multiplied (6x5 and 6x3)", False),
        ("", True),  # a check that asks for the type alone keeps no message
    ],
)
def test_an_error_of_one_entry_says_the_same_but_for_sizes(student, same):
    mistake = Raised("RuntimeError", "The size of tensor a (7) must match the size of tensor b (5)")
    seen = Raised("RuntimeError", student)
    assert agree({"7 keys": mistake}, {"7 keys": seen}, expected={"7 keys": RIGHT}) is same
    assert agree([RIGHT, mistake], [RIGHT, seen], expected=[RIGHT, RIGHT]) is same
    assert not agree([mistake], [Raised("TypeError", student)], expected=[RIGHT])


def test_where_the_student_passes_the_mistake_must_pass():
    assert agree(RIGHT + 1e-10, RIGHT)
    assert not agree(RIGHT + 5e-8, RIGHT)


def test_a_trained_model_that_is_good_enough_is_no_sign_against_a_mistake():
    class GoodEnough:
        """As a judge that tries a saved model: any weights above 0 are good enough."""

        def compare(self, expected, seen):
            return None if bool((seen > 0).all()) else Difference("outcome")

    weights, others = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    assert agree(weights, others, GoodEnough())
    assert not agree(weights, -others, GoodEnough())


def test_rounding_in_a_lower_precision_is_the_same_mistake_in_any_order():
    low = RIGHT.float() / 3
    assert agree(low, low * (1 + 1e-7), expected=RIGHT / 3)


def test_entries_that_are_not_finite_are_compared_as_they_are():
    nan = torch.tensor([math.nan, 0.75], dtype=torch.float64)
    assert agree(nan, nan.clone())
    assert not agree(nan, RIGHT + 1.0)


def test_differences_in_kind_agree_if_they_are_the_same():
    assert agree(torch.ones(3), torch.ones(3))
    assert agree(Raised("KeyError", "a"), Raised("KeyError", "a"))
    assert not agree(Raised("KeyError", "a"), Raised("KeyError", "b"))
    assert agree(0.5, 0.5, Within(1, 2), expected=None)


def test_the_name_that_a_student_gave_to_a_class_does_not_matter() -> None:
    def lacks(kind: str, attribute: str) -> Raised:
        return Raised("AttributeError", f"'{kind}' object has no attribute '{attribute}'")

    assert agree(lacks("Around", "heads"), lacks("Wrapper", "heads"))
    assert not agree(lacks("Around", "heads"), lacks("Around", "weight"))


def test_the_names_that_a_student_gave_to_weights_do_not_matter() -> None:
    def lacks(there: str, missing: str = "w of shape (3, 2)") -> Raised:
        return Raised("MissingWeightError", f"there is no weight {missing}; there are {there}")

    assert agree(lacks("a (4, 2), b (4,)"), lacks("net.0.bias (4,), net.0.weight (4, 2)"))
    assert not agree(lacks("a (4, 2), b (4,)"), lacks("a (5, 2), b (5,)"))
    assert not agree(lacks("a (4, 2)"), lacks("a (4, 2)", missing="v of shape (3, 2)"))
    assert agree(lacks("9: a (4, 2), …"), lacks("9: b (5,), …"))
    assert not agree(lacks("9: a (4, 2), …"), lacks("10: a (4, 2), …"))


def test_draws_agree_if_they_could_come_from_one_distribution():
    right, wrong, other = (torch.tensor(n) for n in ([2000, 2000], [3000, 1000], [3500, 500]))
    near = wrong + torch.tensor([20, -20])
    judge = SameShares()
    assert agree(wrong, near, judge, right)
    assert not agree(wrong, other, judge, right)
    assert not agree(right, near, judge, right)
    assert agree(right + torch.tensor([9, -9]), right, judge, right)
