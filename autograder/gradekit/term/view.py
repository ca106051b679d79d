"""Terminal output of ``lab term``: a line for each student, then what the marks in it mean.

Tested in tests/gradekit/term/test_commands.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gradekit.export.scores import ScoreState
from gradekit.term.result import Counting, LabResult
from gradekit.term.term import Term
from gradekit.wording import counted

_MOST_WITH_DIGITS = 6  # labs of which a line with a digit after the point has 80 columns


def show_term(term: Term, console: Console | None = None, with_rows: bool = True) -> None:
    """Print everyone's percentages, the totals and the rules; the files have every column.

    Args:
        with_rows: whether to print a line for each student, and not only what concerns all.
    """
    console = console or Console()
    if with_rows:
        console.print(_rows(term))
        console.print()
    for line in (*_legend(term), *term.notes):
        console.print(escape(line), highlight=False)


def _rows(term: Term) -> Table:
    scale = term.course.values.term.scale
    digits = 1 if len(term.labs) <= _MOST_WITH_DIGITS else 0
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=0)
    table.add_column("student", overflow="fold", min_width=8)
    for name in (*term.labs, "total"):
        table.add_column(name, justify="right", overflow="fold")
    if scale:
        table.add_column("grade", overflow="fold")
    for row in term.rows:
        total = "" if row.total is None else f"{row.total:.2f}"
        cells = [escape(row.student.id), *(_cell(lab, digits) for lab in row.labs), total]
        table.add_row(*cells, *([escape(row.grade)] if scale else []))
    return table


def _cell(lab: LabResult, digits: int = 0) -> str:
    match lab.counts:
        case Counting.NOT_YET:
            return "open"
        case Counting.NO_WEIGHT | Counting.YES | Counting.DROPPED:
            shown = (
                "none" if lab.score.state is ScoreState.MISSING else _number(lab.percent, digits)
            )
            shown += "" if lab.score.is_final else "?"
        case unknown:
            raise ValueError(f"{lab.lab} counts {unknown!r}")
    return f"({shown})" if lab.counts is Counting.DROPPED else shown


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _legend(term: Term) -> Iterator[str]:
    course, cells = term.course, [lab for row in term.rows for lab in row.labs]
    weights = ", ".join(f"{lab} {course.weight(lab):g}" for lab in term.labs)
    students = counted(len(term.rows), "student")
    yield f"{students}. Numbers are per cent of a lab's points, after lateness."
    yield f"Weights: {weights}."
    if any(lab.counts is Counting.DROPPED for lab in cells):
        count = course.values.term.drop_lowest
        which = "lowest lab" if count == 1 else f"{count} lowest labs"
        yield f"In parentheses: the {which} of a student, dropped."
    if any(_cell(lab).strip("()") == "none" for lab in cells):
        yield "none: nothing was handed in; counts as 0."
    if any(_cell(lab).endswith("?") for lab in cells):
        yield "?: not final, because a part needs manual grading."
    if any(lab.counts is Counting.NOT_YET for lab in cells):
        yield "open: no result yet; does not count yet."
