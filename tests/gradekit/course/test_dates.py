"""Dates with a time and without."""

from __future__ import annotations

from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest

from gradekit.course.dates import FIRST, LAST, human_date, in_zone, moment, short_date

ZURICH = ZoneInfo("Europe/Zurich")
NOON = datetime(2026, 9, 20, 12)


@pytest.mark.parametrize("value", [date(2026, 9, 20), "2026-09-20"])
def test_a_whole_day_has_a_beginning_and_an_end(value: object) -> None:
    assert moment(value, FIRST) == datetime(2026, 9, 20)
    assert moment(value, LAST) == datetime(2026, 9, 20, 23, 59, 59)


@pytest.mark.parametrize("value", [NOON, "2026-09-20T12:00:00", "2026-09-20 12:00"])
def test_a_time_is_kept(value: object) -> None:
    assert moment(value, FIRST) == moment(value, LAST) == NOON


@pytest.mark.parametrize("value", [2026, 1.5, True, "soon", "", None, [NOON]])
def test_anything_else_is_not_a_date(value: object) -> None:
    with pytest.raises(ValueError, match="write it like 2026-09-20 or"):
        moment(value, LAST)


def test_a_date_without_a_zone_is_local() -> None:
    assert in_zone(NOON, ZURICH).isoformat() == "2026-09-20T12:00:00+02:00"
    elsewhere = NOON.replace(tzinfo=ZoneInfo("America/New_York"))
    assert in_zone(elsewhere, ZURICH).isoformat() == "2026-09-20T18:00:00+02:00"


def test_dates_for_people() -> None:
    local = in_zone(NOON, ZURICH)
    assert human_date(local) == "Sunday, 20 September 2026, 12:00 (Europe/Zurich)"
    assert short_date(local) == "Sun 20 Sep 2026, 12:00"
