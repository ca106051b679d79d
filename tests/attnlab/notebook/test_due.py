"""When a lab is due and how late it is, in words that agree with the late rule of grading."""

from datetime import datetime, timedelta

import pytest

from attnlab.notebook.due import due_sentences
from gradekit.course import LateRule
from gradekit.late import lateness

DUE = datetime.fromisoformat("2026-10-04T23:59:00+02:00")
RULE = LateRule(grace_minutes=30, percent_per_day=10, last_day=5)
ABOUT = {"due": DUE.isoformat(), "late": RULE.model_dump()}
MOMENT = "Sunday 4 October 2026, 23:59 (UTC+02:00)"
LATE = f"It was due {MOMENT}: this is "


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (timedelta(days=-3, hours=-1), f"Due {MOMENT}: 3 days left."),
        (timedelta(hours=-1), f"Due {MOMENT}: 1 hour left."),
        (timedelta(seconds=-5), f"Due {MOMENT}: less than a minute left."),
        (timedelta(minutes=30), f"It was due {MOMENT}; a delay of up to 30 minutes still counts"),
        (timedelta(minutes=31), LATE + "1 day late. That costs 10 % of the points"),
        (timedelta(days=4, hours=1), LATE + "5 days late. That costs 50 % of the points"),
        (timedelta(days=48, hours=1), LATE + "49 days late. After 5 days a hand-in earns nothing"),
    ],
)  # fmt: skip
def test_the_sentence(after, said):
    assert due_sentences(ABOUT, DUE + after).startswith(said)


def test_slip_days_are_mentioned_if_the_course_has_them():
    about = {**ABOUT, "late": {**RULE.model_dump(), "slip_days": 2}}
    said = due_sentences(about, DUE + timedelta(hours=1))
    assert said.endswith("unless you were given more time or have slip days left.")


@pytest.mark.parametrize("hours", [0.4, 0.6, 23, 25, 119, 121, 2000])
def test_it_agrees_with_the_rule_that_grading_uses(hours):
    said = due_sentences(ABOUT, DUE + timedelta(hours=hours))
    found = lateness(RULE, hours * 3600)
    assert ("late." in said) == found.is_late
    assert ("earns nothing" in said) == (found.percent >= 100)
    if found.is_late and found.percent < 100:
        assert f"costs {found.percent:g} %" in said


@pytest.mark.parametrize(
    "about",
    [
        {},
        {"due": "soon", "late": {}},
        {"due": 3},
        {**ABOUT, "late": None},
        {**ABOUT, "due": "2026-10-04"},
    ],
)
def test_a_notebook_that_does_not_say_gets_no_sentence(about):
    assert due_sentences(about, DUE) == ""
