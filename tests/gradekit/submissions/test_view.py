"""`lab collect --dry-run`: a table of at most 80 columns, whatever the names are."""

from __future__ import annotations

import io
import re
from datetime import UTC, datetime

from rich.console import Console

from gradekit.submissions.collected import Refused, Summary, Taken
from gradekit.submissions.times import NO_TIME, HandInTime, TimeSource
from gradekit.submissions.view import show_collected


def shown(summary: Summary) -> str:
    text = io.StringIO()
    show_collected(summary, "lab01", Console(file=text, width=80))
    return text.getvalue()


def test_who_what_and_when_fit_into_80_columns() -> None:
    when = HandInTime(datetime(2026, 9, 18, 10, 15, tzinfo=UTC), TimeSource.TIMESTAMP)
    long = "Maximiliane Hortensia von Oberammergau-Garmisch"
    file = "a.zip/maximilianehortensia_1001_77000_lab01_softmax-1.ipynb"
    taken = (
        Taken("maximiliane.oberammergau@uni.example", long, file, when, "a.zip", "new"),
        Taken("ada", "Ada Lovelace", "a.zip/lab01.ipynb", NO_TIME, "a.zip", "new"),
    )
    text = shown(Summary(taken))
    assert max(map(len, text.splitlines())) <= 80
    assert re.search("18 Sep 10:15 +timestamp.txt", text)
    assert "unknown" in text
    assert "Times are in UTC." in text
    assert "lab01: 2 hand-ins; nothing was written" in text
    assert "2 new, 0 newer than those that are there, 0 there already, 0 not taken." in text


def test_names_steer_no_terminal_and_are_no_markup() -> None:
    taken = Taken("ada", "[red]A\x1b[2Jda", "x/[/]\u202e.ipynb", NO_TIME, "x", "new")
    text = shown(Summary((taken,), (Refused("x/\x07[b]", "it is [bold]"),)))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "[red]A?[2Jda" in text
    assert "x/?[b]: it is [bold]" in text
