"""The report on a terminal: at 80 columns, and nothing of a student's steers it."""

from __future__ import annotations

import io
from dataclasses import replace

from rich.console import Console

from gradekit.report.report import Report
from gradekit.report.view import MOST_MISCONCEPTIONS, show_report


def shown(report: Report) -> str:
    console = Console(width=80, record=True, file=io.StringIO())
    show_report(report, console)
    return console.export_text()


def test_the_first_lines_at_80_columns(report: Report) -> None:
    text = shown(report)
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
    rows = [line.split(maxsplit=1) for line in text.splitlines()]
    assert ["63", "1.3 Cross-entropy             double softmax"] in [
        [row[0], row[1].rstrip()] for row in rows if len(row) == 2
    ]
    assert text.index("1.3 Cross-entropy") < text.index("Hardest steps")


def test_more_than_fit_are_counted(report: Report) -> None:
    first = report.misconceptions[0]
    many = tuple(replace(first, mistakes=(f"slip_{n}",)) for n in range(MOST_MISCONCEPTIONS + 5))
    assert "… and 5 more on the page" in shown(replace(report, misconceptions=many))


def test_nothing_steers_the_terminal(report: Report) -> None:
    evil = replace(report.misconceptions[0], mistakes=("\x1b[2J[red]",), title="\x1b]0;x\x07")
    text = shown(replace(report, misconceptions=(evil,)))
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "[red]" in text
