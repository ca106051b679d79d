"""One student's term, against sums worked out by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest
from pydantic import ValidationError

from gradekit.course import TermRule
from gradekit.export.scores import Score, ScoreState
from gradekit.late import Lateness
from gradekit.roster.students import Student
from gradekit.term.result import Counting, LabResult, grade_of, hundredths, term_of

ADA = Student("ada", "Ada Lovelace")


def lab(name: str, score: float | None, of: float = 100, weight: float = 1, **changes) -> LabResult:
    state = ScoreState.MISSING if score is None else ScoreState.GRADED
    values = {"counts": Counting.YES, "own_due": None, "late": Lateness(), **changes}
    points = Score(ADA, state, None, {}, score, 0.0, values.pop("late"), of)
    return LabResult(name, points, weight, **values)


def term(*labs: LabResult, drop: int = 0, slip_days: int = 0, **scale: float):
    return term_of(ADA, labs, TermRule(drop_lowest=drop, scale=scale), slip_days)


def test_weights():
    # (1 × 90 + 3 × 50) / 4
    assert term(lab("a", 90), lab("b", 10, of=20, weight=3)).total == 60


def test_a_missing_lab_counts_as_nothing():
    made = term(lab("a", 80), lab("b", None))
    assert (made.total, made.missing) == (40, ("b",))
    assert [one.percent for one in made.labs] == [80, 0]


def test_the_lowest_share_is_dropped_and_not_the_fewest_points():
    made = term(lab("a", 9, of=10), lab("b", 60), lab("c", 70), drop=1)
    assert made.dropped == ("b",)
    assert made.total == 80
    assert term(lab("a", 90), lab("b", None), drop=1).dropped == ("b",)


def test_of_equal_shares_the_heaviest_is_dropped_and_then_the_earliest():
    assert term(lab("a", 50), lab("b", 50, weight=2), lab("c", 90), drop=1).dropped == ("b",)
    assert term(lab("a", 50), lab("b", 50), lab("c", 90), drop=1).dropped == ("a",)


def test_one_lab_always_counts():
    assert term(lab("a", 50), drop=3).total == 50
    assert term(lab("a", 50), lab("b", 70), drop=3).total == 70


def test_labs_without_weight_or_result_are_neither_counted_nor_dropped():
    made = term(
        lab("gate", 0, weight=0, counts=Counting.NO_WEIGHT),
        lab("a", 50),
        lab("b", 70),
        lab("open", None, counts=Counting.NOT_YET),
        drop=1,
    )
    assert (made.total, made.dropped, made.missing) == (70, ("a",), ())
    assert made.labs[3].percent is None
    assert not made.is_final
    assert term(lab("gate", 0, weight=0, counts=Counting.NO_WEIGHT)).total is None


def test_days_late_and_slip_days_add_up():
    late = Lateness(3600, 2, 10, slipped=1, slip_left=2)
    made = term(lab("a", 50, late=late), lab("b", 50, late=late), lab("c", 1), slip_days=3)
    assert (made.days_late, made.slipped) == (4, 2)
    assert made.to_json()["slip_days_left"] == 1


def test_hundredths_are_rounded_as_by_hand():
    # (33.33 + 33.34) / 2 = 33.335, which is 33.33499… as a binary number.
    assert term(lab("a", 33.33), lab("b", 33.34)).total == 33.34
    assert hundredths(Fraction(2, 3)) == 0.67
    # A third of each of three labs is a third: no sum of rounded numbers.
    assert term(*(lab(name, 1, of=3) for name in "abc")).total == 33.33


def test_the_shown_total_decides_the_grade():
    scale = {"A": 90.0, "B": 80.0, "F": 0.0}
    assert term(lab("a", 89.995), **scale).grade == "A"  # shown as 90.00
    assert grade_of(89.99, scale) == "B"
    assert grade_of(0, scale) == "F"
    assert grade_of(None, scale) == ""


@pytest.mark.parametrize(
    ("scale", "message"),
    [
        ({"A": 90}, "no grade begins at 0"),
        ({"A": 101, "F": 0}, "begins at 0 to 100 per cent"),
        ({"A": 90, "B": 90, "F": 0}, "two grades begin at the same percentage"),
    ],
)
def test_a_wrong_scale_is_one_sentence(scale, message):
    with pytest.raises(ValidationError, match=message):
        TermRule(scale=scale)
