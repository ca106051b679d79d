"""Terminal output of ``lab report``: the sentences, and the first lines of the lists.

Tested in tests/gradekit/report/test_view.py.
"""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gradekit.feedback.plain_text import plain_line
from gradekit.report.report import Report
from gradekit.report.summary import number, percent, sentences
from gradekit.report.weeks import Weeks

MOST_MISCONCEPTIONS, MOST_STEPS, MOST_FELL = 8, 5, 12


def show_report(report: Report, console: Console | None = None) -> None:
    """Print what to know first; the page has all of it."""
    console = console or Console()
    console.print(f"[bold]{safe(report.lab)}: {safe(report.title)}[/]", highlight=False)
    for sentence in sentences(report):
        console.print(safe(sentence), highlight=False)
    if report.not_in_gradebook:
        console.print(
            f"{report.not_in_gradebook} hand-ins have results that the gradebook does not have; "
            f"`lab grade {safe(report.lab)}` writes them.",
            highlight=False,
        )
    if report.misconceptions:
        console.print(_misconceptions(report))
    if report.hardest:
        console.print(_steps(report))


def show_weeks(weeks: Weeks, console: Console | None = None) -> None:
    """Print the labs and those who fell by much; the page has a line for everyone."""
    console = console or Console()
    for sentence in (*weeks.sentences(), *weeks.notes):
        console.print(safe(sentence), highlight=False)
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("lab", overflow="fold")
    table.add_column("handed in", justify="right")
    table.add_column("median %", justify="right")
    for week in weeks.weeks:
        handed_in = f"{week.handed_in} of {week.students}"
        table.add_row(safe(f"{week.lab} {week.title}"), handed_in, number(week.median))
    console.print(table)
    if weeks.fell:
        console.print(_fell(weeks))


def _fell(weeks: Weeks) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, title_justify="left", title="Fell by much")
    table.add_column("% points", justify="right")
    table.add_column("student", overflow="fold")
    table.add_column("no hand-in", overflow="fold")
    for row in weeks.fell[:MOST_FELL]:
        student = f"{row.student.name} ({row.student.id})".strip()
        labs = ", ".join(weeks.not_handed_in(row))
        table.add_row(f"−{number(row.fall)}", safe(student), safe(labs))
    left = len(weeks.fell) - MOST_FELL
    if left > 0:
        table.add_row("", f"… and {left} more on the page", "")
    return table


def _misconceptions(report: Report) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, title_justify="left", title="Misconceptions")
    table.add_column("students", justify="right")
    table.add_column("step", overflow="fold", max_width=28)
    table.add_column("known mistake", overflow="fold")
    for found in report.misconceptions[:MOST_MISCONCEPTIONS]:
        table.add_row(str(len(found.students)), safe(found.title), safe(found.name))
    left = len(report.misconceptions) - MOST_MISCONCEPTIONS
    if left > 0:
        table.add_row("", "", f"… and {left} more on the page")
    return table


def _steps(report: Report) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, title_justify="left", title="Hardest steps")
    table.add_column("share of points", justify="right")
    table.add_column("step", overflow="fold")
    table.add_column("left out by", justify="right")
    for step in report.hardest[:MOST_STEPS]:
        table.add_row(percent(step.share), safe(step.title), str(step.left_out))
    return table


def safe(text: str) -> str:
    """Text that a student may have written: no markup, and nothing that steers a terminal."""
    return escape(plain_line(text))
