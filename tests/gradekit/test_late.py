"""The late rule."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradekit.course import Course, LateRule, load_course
from gradekit.late import Lateness, closes, lateness, lateness_of
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
    values = course.values.model_copy(update={"late": rule})
    changed = course.model_copy(update={"values": values})
    lab = course.labs[0]
    due = [changed.due(lab, e.student) for e in values.extension if e.lab == lab]
    assert due, "the test course has an extension"
    last = max([changed.dates(lab).due, *due])
    assert closes(changed, lab) == last + open_for
    before, after = open_for.total_seconds(), open_for.total_seconds() + 1
    assert lateness(rule, before).percent < 100
    assert lateness(rule, after).percent == 100
