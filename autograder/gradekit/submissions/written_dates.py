"""Times as course systems write them for people, such as ``Friday, 18 September 2026, 10:15 AM``.

Tested in tests/gradekit/submissions/test_written_dates.py.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime, tzinfo

# By the first three letters, without accents: English, then what differs in the other languages of
# roster/moodle_words.py. June and July are told apart by a fourth letter.
_MONTHS = {
    1: "jan ene gen ian янв", 2: "feb fev фев", 3: "mar mae maa mrt мар", 4: "apr avr abr апр",
    5: "may mai mag mei maj маи мая", 6: "jun giu juin iun июн", 7: "jul lug juil iul июл",
    8: "aug aou ago авг", 9: "sep set сен", 10: "oct okt ott out окт", 11: "nov noi ноя",
    12: "dec dez dic des дек",
}  # fmt: skip
_NUMBERS = {name: number for number, names in _MONTHS.items() for name in names.split()}
_CLOCK = re.compile(
    r"(?<!\d)(\d{1,2})(?:[:.]| ?h ?)?(\d{2})(?:[:.](\d{2}))?\s*([ap]\.?m\b\.?)?(?!\d)", re.I
)
_YEAR = re.compile(r"(?<!\d)(20\d{2})(?!\d)")
_DAY = re.compile(r"(?<!\d)(\d{1,2})(?:st|nd|rd|th)?(?!\d)", re.I)
_NUMERIC = re.compile(r"(\d{1,2})[./-](\d{1,2})[./-](20\d{2}),?\s+(.*)", re.DOTALL)


def read_date(text: str, zone: tzinfo) -> datetime | None:
    """The time in a text; None if it has none, or if it may mean two different days.

    Args:
        zone: of a text that names none.
    """
    text = unicodedata.normalize("NFKC", text).strip()
    try:
        moment = _iso(text) or _in_numbers(text) or _in_words(text)
    except ValueError:  # for example the 31st of June
        return None
    if moment is None or not 1970 < moment.year < 2200:  # in other years, zones may overflow
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)


def _iso(text: str) -> datetime | None:
    """``2026-09-18 10:15:22 +0200``, ``2026-09-18T10:15:22Z``; a time of day is needed."""
    text = re.sub(r"\s+(?=[+-]\d{2}:?\d{2}$)|\s+(?=(UTC|Z)$)", "", text).replace("UTC", "Z")
    if not re.match(r"\d{4}-\d{2}-\d{2}[T ]\d", text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _in_numbers(text: str) -> datetime | None:
    """``18.09.2026 10:15`` and ``18/9/2026``; a month is never guessed, except with points."""
    match = _NUMERIC.match(text)
    if not match:
        return None
    first, second, year = int(match[1]), int(match[2]), int(match[3])
    if "." in text[: match.start(3)] or first > 12 or first == second:
        day, month = first, second
    elif second > 12:
        day, month = second, first
    else:
        return None
    return _with_clock(year, month, day, match[4])


def _in_words(text: str) -> datetime | None:
    """A day, a month in words, a year and a time of day, in this order or with the month first."""
    year = _YEAR.search(text)
    if not year:
        return None
    date = text[: year.start()]
    # The last one: mardi and martes are days of the week, and begin like March.
    months = [number for word in re.findall(r"[^\W\d_]+", date) if (number := _month(word))]
    day = _DAY.search(date)
    if not months or not day:
        return None
    return _with_clock(int(year[1]), months[-1], int(day[1]), text[year.end() :])


def _month(word: str) -> int:
    parts = unicodedata.normalize("NFKD", word.casefold())
    plain = "".join(letter for letter in parts if not unicodedata.combining(letter))
    return _NUMBERS.get(plain[:4]) or _NUMBERS.get(plain[:3], 0) if len(plain) > 2 else 0


def _with_clock(year: int, month: int, day: int, text: str) -> datetime | None:
    match = _CLOCK.search(text)
    if not match:
        return None
    hour, half = int(match[1]), (match[4] or "").lower()[:1]
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return datetime(year, month, day, hour, int(match[2]), int(match[3] or 0))
