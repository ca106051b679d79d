"""Difficulty and discrimination, against values worked out by hand."""

from __future__ import annotations

import pytest

from gradekit.report.items import FEWEST_FOR_LINK, CheckItem, StepItem, _link, hardest_first


def check(passed: int, students: int = 30, link: float | None = 0.5) -> CheckItem:
    return CheckItem("shape", "Keeps the shape.", False, 2, students, passed, link)


@pytest.mark.parametrize(
    ("item", "remark"),
    [
        (check(30, link=None), "everyone passes"),
        (check(0, link=None), "no one passes"),
        (check(0, students=0, link=None), "not written by anyone"),
        (check(12, link=0.09), "weak link"),
        (check(12, link=-0.4), "weak link"),
        (check(12, link=0.1), ""),
        (check(12, link=None), ""),
    ],
)
def test_remarks(item: CheckItem, remark: str) -> None:
    assert item.remark == remark


def test_the_link_is_the_point_biserial_correlation() -> None:
    # Passed: mean 8; failed: mean 4; standard deviation of all 2, so (8 - 4) / 2 * sqrt(p q) = 1.
    assert _link([1.0, 0.0] * 15, [8.0, 4.0] * 15) == 1.0
    passed, rest = [1.0, 1.0, 0.0, 0.0] * 8, [9.0, 5.0, 7.0, 3.0] * 8
    # Means 7 and 5, standard deviation sqrt(5): (7 - 5) / sqrt(5) * 0.5.
    assert _link(passed, rest) == round(2 / 5**0.5 * 0.5, 2)
    assert _link(passed, [-value for value in rest]) == -round(2 / 5**0.5 * 0.5, 2)


def test_no_link_of_a_few_students_or_if_all_have_the_same() -> None:
    few = FEWEST_FOR_LINK - 1
    assert _link([1.0, *[0.0] * (few - 1)], [5.0, *[2.0] * (few - 1)]) is None
    assert _link([1.0] * 30, [float(number) for number in range(30)]) is None


def test_the_hardest_step_is_first_and_steps_without_points_are_not_ranked() -> None:
    def step(name: str, points: float, mean: float) -> StepItem:
        return StepItem(name, name, points, 30, mean, 0, 0, 0, 0, None, ())

    steps = (step("a", 10, 9), step("b", 4, 1), step("c", 0, 0), step("d", 20, 10))
    assert [one.name for one in hardest_first(steps)] == ["b", "d", "a"]
