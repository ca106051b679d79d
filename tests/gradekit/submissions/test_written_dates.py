"""Times as course systems write them for people."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from gradekit.submissions.written_dates import read_date

ZURICH = ZoneInfo("Europe/Zurich")
MORNING = datetime(2026, 9, 18, 10, 15, tzinfo=ZURICH)
EVENING = datetime(2026, 3, 3, 21, 5, tzinfo=ZURICH)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("Friday, 18 September 2026, 10:15 AM", MORNING),
        ("Friday, September 18, 2026, 10:15 AM", MORNING),
        ("Sep 18, 2026 1015 AM", MORNING),
        ("Sep 18, 2026 10:15\u202fAM", MORNING),
        ("Mar 3, 2026 905 PM", EVENING),
        ("Freitag, 18. September 2026, 10:15", MORNING),
        ("Dienstag, 3. März 2026, 21:05", EVENING),
        ("vendredi 18 septembre 2026, 10:15", MORNING),
        ("mardi 3 mars 2026, 21h05", EVENING),
        ("martes, 3 de marzo de 2026, 21:05", EVENING),
        ("mardi 18 septembre 2026, 10:15", MORNING),
        ("18.09.2026 10:15", MORNING),
        ("18/9/2026, 10:15:00", MORNING),
        ("9/18/2026 10:15", MORNING),
        ("2026-09-18 10:15", MORNING),
        ("2026-09-18T10:15:00", MORNING),
        ("2026-09-18 10:15:00 +0200", MORNING),
        ("2026-09-18 08:15:00 UTC", MORNING),
        ("2026-09-18 01:15:00 -0700", MORNING),
        ("12 January 2026, 12:30 AM", datetime(2026, 1, 12, 0, 30, tzinfo=ZURICH)),
        ("12 January 2026, 12:30 PM", datetime(2026, 1, 12, 12, 30, tzinfo=ZURICH)),
        ("1 juillet 2026, 12:00", datetime(2026, 7, 1, 12, 0, tzinfo=ZURICH)),
    ],
)
def test_a_time_is_read(text: str, moment: datetime) -> None:
    assert read_date(text, ZURICH) == moment


@pytest.mark.parametrize(
    "text",
    ["", "-", "yesterday", "3/4/2026 10:15", "31 June 2026, 10:15", "2026-09-18", "18 Sep 2026",
     "18 September 2026, 25:15", "Friday, 10:15 AM"],
)  # fmt: skip
def test_what_may_mean_several_days_or_none_is_not_read(text: str) -> None:
    assert read_date(text, ZURICH) is None
