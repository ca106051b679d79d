"""The late rule."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradekit.course import Course, LateRule, load_course
from gradekit.late import (
    Lateness,
    answers_public_after,
    answers_public_after_without_extensions,
    closes,
    lateness,
    lateness_of,
)
from tests.helpers.late_course import COURSE

RULE = LateRule(grace_minutes=30, percent_per_day=10, last_day=5)
DAY = 86400


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    root: Path = tmp_path_factory.mktemp("course")
    (root / "course.toml").write_text(COURSE)
    return load_course(root)


@pytest.mark.parametrize(
    ("seconds", "days", "percent"),
    [
        (-5, 0, 0),
        (0, 0, 0),
        (1800, 0, 0),
        (1801, 1, 10),
        (DAY, 1, 10),
        (DAY + 1, 2, 20),
        (5 * DAY, 5, 50),
        (5 * DAY + 1, 6, 100),
        (100 * DAY, 100, 100),
    ],
)
def test_days_and_percent(seconds: float, days: int, percent: float) -> None:
    late = lateness(RULE, seconds)
    assert (late.days, late.percent) == (days, percent)
    assert late.is_late == (days > 0)


def test_percent_never_passes_the_whole() -> None:
    assert lateness(LateRule(percent_per_day=60, last_day=9), 3 * DAY).percent == 100


@given(st.floats(0, 200), st.floats(0, 20 * DAY))
def test_a_penalty_is_between_nothing_and_everything(score: float, seconds: float) -> None:
    assert 0 <= lateness(RULE, seconds).penalty(score) <= score


@given(st.floats(0, 20 * DAY), st.floats(0, 20 * DAY))
def test_later_never_costs_less(one: float, other: float) -> None:
    early, late = sorted((one, other))
    assert lateness(RULE, early).percent <= lateness(RULE, late).percent


def test_extensions_count(course: Course) -> None:
    due = datetime(2026, 9, 20, 21, 59, tzinfo=UTC)
    after = due + timedelta(hours=20)
    assert lateness_of(course, "lab01", "ada", after).days == 1
    assert lateness_of(course, "lab01", "bob", after) == Lateness()
    assert lateness_of(course, "lab01", "ada", None) == Lateness()


@pytest.mark.parametrize(
    ("late", "words"),
    [
        (Lateness(), ""),
        (Lateness(5, 1, 10), "1 day late: 10 %"),
        (Lateness(5, 3, 7.5), "3 days late: 7.5 %"),
        (Lateness(5, 9, 100), "earns no points"),
        (Lateness(5, 1, 0), "costs nothing"),
    ],
)
def test_the_rule_in_words(late: Lateness, words: str) -> None:
    assert words in late.sentence


@pytest.mark.parametrize(
    ("rule", "open_for"),
    [
        (LateRule(grace_minutes=30, percent_per_day=10, last_day=5), timedelta(days=5)),
        (LateRule(grace_minutes=30, percent_per_day=50, last_day=5), timedelta(days=1)),
        (LateRule(grace_minutes=30, percent_per_day=0, last_day=2), timedelta(days=2)),
        (LateRule(grace_minutes=30, percent_per_day=10, last_day=0), timedelta(minutes=30)),
        (LateRule(grace_minutes=0, percent_per_day=100, last_day=3), timedelta(0)),
    ],
)
def test_a_lab_closes_when_the_last_student_can_earn_nothing(
    course: Course, rule: LateRule, open_for: timedelta
) -> None:
    changed = with_rule(course, rule)
    lab = course.labs[0]
    assert changed.last_due(lab) == changed.due(lab, "bob") > changed.lab(lab).due
    assert closes(changed, lab) == changed.due(lab, "bob") + open_for
    before, after = open_for.total_seconds(), open_for.total_seconds() + 1
    assert lateness(rule, before).percent < 100
    assert lateness(rule, after).percent == 100


def with_rule(course: Course, rule: LateRule) -> Course:
    values = course.values.model_copy(update={"late": rule})
    return course.model_copy(update={"values": values})


def test_a_day_on_which_clocks_change_does_not_shorten_a_late_day(tmp_path: Path) -> None:
    text = COURSE.replace('name = "A course"', 'name = "A course"\ntimezone = "Europe/Zurich"')
    text = text.replace("2026-09-20T21:59:00", "2026-10-24").partition("[[extension]]")[0]
    (tmp_path / "course.toml").write_text(text)
    course = load_course(tmp_path)
    end = closes(course, "lab01")
    assert f"{end:%d %H:%M}" == "29 22:59", "five times 24 hours"
    assert lateness_of(course, "lab01", "ada", end).days == 5
    assert lateness_of(course, "lab01", "ada", end + timedelta(seconds=1)).percent == 100


def test_answers_may_be_known_from_the_due_date_on(course: Course) -> None:
    assert answers_public_after(course, "lab01") == closes(course, "lab01")
    (lab,) = course.values.lab
    known = course.values.model_copy(
        update={"lab": (lab.model_copy(update={"solutions": "known"}),)}
    )
    changed = course.model_copy(update={"values": known})
    assert answers_public_after(changed, "lab01") == changed.lab("lab01").due


def test_grading_does_not_look_at_extensions(course: Course) -> None:
    days = timedelta(days=RULE.last_day)
    assert (
        answers_public_after_without_extensions(course, "lab01") == course.lab("lab01").due + days
    )
    assert answers_public_after(course, "lab01") == course.due("lab01", "bob") + days


SLIP = RULE.model_copy(update={"slip_days": 3})


@pytest.mark.parametrize(
    ("days", "left", "expected", "words"),
    [
        (0, 3, (0, 0, 3), ""),
        (1, 3, (0, 1, 2), "1 day late: 1 slip day covers that, and 2 are left."),
        (2, 3, (0, 2, 1), "2 days late: 2 slip days cover that, and 1 is left."),
        (3, 3, (0, 3, 0), "3 slip days cover that, and none is left."),
        (4, 3, (10, 3, 0), "4 days late: 3 slip days cover part of that, and none is left; 10 %"),
        (2, 0, (20, 0, 0), "2 days late: 20 % of the points are taken off."),
        (6, 3, (100, 0, 3), "6 days late, after the last day: it earns no points."),
    ],
)
def test_slip_days_cover_late_days_until_none_is_left(
    days: int, left: int, expected: tuple[float, int, int], words: str
) -> None:
    late = lateness(SLIP, days * DAY, left)
    assert (late.percent, late.slipped, late.slip_left) == expected
    assert words in late.sentence


def test_slip_days_are_not_spent_on_what_earns_nothing() -> None:
    rule = LateRule(percent_per_day=50, last_day=9, slip_days=1)
    assert lateness(rule, 2 * DAY).percent == 50
    late = lateness(rule, 3 * DAY)
    assert (late.percent, late.slipped, late.slip_left) == (100, 0, 1)


def test_slip_days_keep_a_lab_open_longer(course: Course) -> None:
    rule = LateRule(percent_per_day=50, last_day=5, slip_days=2)
    open_for = closes(with_rule(course, rule), "lab01") - course.due("lab01", "bob")
    assert open_for == timedelta(days=3)
    assert lateness(rule, 3 * DAY).percent == 50
    assert lateness(rule, 3 * DAY + 1).percent == 100


@pytest.mark.parametrize(
    ("score", "penalty"),
    [(79.35, 7.93), (50.35, 5.03), (79.36, 7.94), (79.35 + 1e-12, 7.93), (0.05, 0.0), (100, 10)],
)
def test_a_half_is_rounded_in_favour_of_the_student(score: float, penalty: float) -> None:
    """5.035 as a float is a little more than that, and 7.935 a little less."""
    assert lateness(RULE, DAY).penalty(score) == penalty
    assert (round(79.35 * 10 / 100, 2), round(50.35 * 10 / 100, 2)) == (7.93, 5.04)
