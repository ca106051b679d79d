"""How many days late a hand-in is, and what that costs; grading counts with these functions, too.

``submit()`` says it with what the notebook knows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any

_DAY = 24 * 60 * 60


def days_late(seconds: float, grace_minutes: float) -> int:
    """The begun days after the due date; 0 within the grace period.

    Args:
        seconds: after the due date; negative if before.
    """
    return 0 if seconds <= grace_minutes * 60 else math.ceil(seconds / _DAY)


def percent_off(days: int, percent_per_day: float, last_day: float) -> float:
    """The percentage of the points that `days` late days cost; all after the last day."""
    return 100.0 if days > last_day else min(100.0, days * percent_per_day)


def due_sentences(about: Mapping[str, Any], now: datetime) -> str:
    """When the lab is due, and what a late hand-in costs; empty if `about` does not say.

    Args:
        about: the notebook's own metadata, which `lab build` writes.
        now: with its time zone.
    """
    try:
        due = datetime.fromisoformat(about["due"])
        late = about["late"]
        grace, percent, last = (
            float(late[key]) for key in ("grace_minutes", "percent_per_day", "last_day")
        )
        seconds = (now - due).total_seconds()
    except (KeyError, TypeError, ValueError):
        return ""
    moment = f"{due:%A} {due.day} {due:%B %Y, %H:%M} ({due:%Z})"
    if seconds <= 0:
        return f"Due {moment}: {_time(-seconds)} left."
    days = days_late(seconds, grace)
    if not days:
        return f"It was due {moment}; a delay of up to {grace:g} minutes still counts as on time."
    said = f"It was due {moment}: this is {days} day{'s' * (days > 1)} late."
    lost = percent_off(days, percent, last)
    if days > last:
        cost = f"After {last:g} days a hand-in earns nothing, unless you were given more time."
    elif late.get("slip_days"):
        cost = (
            f"That costs {lost:g} % of the points, unless you were given more time or have slip "
            "days left."
        )
    else:
        cost = f"That costs {lost:g} % of the points, unless you were given more time."
    return f"{said} {cost}"


def _time(seconds: float) -> str:
    for unit, name in ((_DAY, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= unit:
            count = int(seconds // unit)
            return f"{count} {name}{'s' * (count > 1)}"
    return "less than a minute"
