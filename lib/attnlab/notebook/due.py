"""Says when a lab is due and how late a hand-in is now, from what the notebook knows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any

_DAY = 24 * 60 * 60


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
    if seconds <= grace * 60:
        return f"It was due {moment}; a delay of up to {grace:g} minutes still counts as on time."
    days = math.ceil(seconds / _DAY)
    said = f"It was due {moment}: this is {days} day{'s' * (days > 1)} late."
    if days > last:
        cost = f"After {last:g} days a hand-in earns nothing, unless you were given more time."
    else:
        lost = min(100.0, days * percent)
        cost = f"That costs {lost:g} % of the points, unless you were given more time."
    return f"{said} {cost}"


def _time(seconds: float) -> str:
    for unit, name in ((_DAY, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= unit:
            count = int(seconds // unit)
            return f"{count} {name}{'s' * (count > 1)}"
    return "less than a minute"
