"""Dates in course.toml, with a time or as whole days, and dates as people read them."""

from __future__ import annotations

from datetime import date, datetime, time, tzinfo
from typing import Any

FIRST, LAST = time(0, 0), time(23, 59, 59)


def moment(value: Any, whole_day: time) -> datetime:
    """A date as TOML or a person writes it.

    Args:
        whole_day: the time of a date that has none.

    Raises:
        ValueError: it is not a date.
    """
    match value:
        case datetime():
            return value
        case date():
            return datetime.combine(value, whole_day)
        case str():
            try:
                return datetime.combine(date.fromisoformat(value), whole_day)
            except ValueError:
                pass
            try:
                return datetime.fromisoformat(value)
            except ValueError:
                pass
    raise ValueError("not a date; write it like 2026-09-20 or 2026-09-20T18:00:00")


def in_zone(value: datetime, zone: tzinfo) -> datetime:
    """The moment in the course's time zone; without a zone of its own, it is local already."""
    return value.astimezone(zone) if value.tzinfo else value.replace(tzinfo=zone)


def human_date(value: datetime) -> str:
    """A date as people write it, with its time zone."""
    zone = getattr(value.tzinfo, "key", None) or value.tzname() or ""
    return f"{value:%A}, {value.day} {value:%B %Y}, {value:%H:%M} ({zone})"


def short_date(value: datetime) -> str:
    """A date for one line of a message: Sun 20 Sep 2026, 23:59."""
    return f"{value:%a} {value.day} {value:%b %Y, %H:%M}"
