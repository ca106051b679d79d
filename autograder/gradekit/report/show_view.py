"""Terminal output of ``lab show``, at 80 columns.

Tested in tests/gradekit/report/test_show.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from gradekit.feedback.views import AnswerView, ExerciseView, Page
from gradekit.report.show import EarlierResult, Shown
from gradekit.report.view import safe
from gradekit.results.records import CheckResult, State

Part = ExerciseView | AnswerView


def show_student(shown: Shown, console: Console | None = None) -> None:
    """Print when it was handed in, the points as a sum, and everything that lost points."""
    console = console or Console()
    _head(shown, console)
    page = shown.page
    for line in filter(None, [page.reason, *page.notes]):
        console.print(safe(line), highlight=False)
    if page.is_graded:
        console.print(_points(page))
        for part in page.parts:
            if _is_telling(part):
                _part(part, console)
    if len(shown.past) > 1:
        console.print("Results so far, without lateness and manual marks:", highlight=False)
        for past in shown.past:
            console.print(f"  {_past(past)}", highlight=False)


def show_step(shown: Shown, name: str, console: Console | None = None) -> None:
    """Print one step with every check, and the student's code or text."""
    console = console or Console()
    _head(shown, console)
    part = shown.step(name)
    _part(part, console, every_check=True)
    text = part.code if isinstance(part, ExerciseView) else part.text
    console.print("  What the student wrote:" if text else "  The student wrote nothing here.")
    for line in text.splitlines():
        console.print(f"    {safe(line)}", highlight=False, soft_wrap=True)


def _is_telling(part: Part) -> bool:
    """Whether there is more to say about a part than its points."""
    if part.comment:
        return True
    if isinstance(part, AnswerView) or part.result is None:
        return False
    return bool(part.result.not_graded) or not all(check.passed for check in part.result.checks)


def _head(shown: Shown, console: Console) -> None:
    student, page = shown.student, shown.page
    who = f"{student.name} ({student.id})" if student.name else student.id
    section = f", section {student.section}" if student.section else ""
    console.print(f"[bold]{safe(who + section)}[/]", highlight=False)
    console.print(f"{safe(page.lab)}: {safe(page.title)}", highlight=False)
    when = f"Handed in {_moment(page.submitted_at)}" if page.submitted_at else "No time is known"
    extended = ", by an extension" if shown.extended else ""
    console.print(f"{when}; due {_moment(shown.due)}{extended}.", highlight=False)
    for line in _sum(page):
        console.print(line, highlight=False)


def _moment(moment: datetime) -> str:
    return f"{moment:%a %d %b %Y, %H:%M %Z}"


def _sum(page: Page) -> Iterator[str]:
    """The score and how it comes about."""
    match page.state:
        case State.OURS:
            yield "Not graded: the grader failed. `lab grade` says why."
            return
        case State.THEIRS:
            yield "The hand-in could not be run."
        case State.GRADED | State.LATE:
            pass
        case state:
            raise ValueError(f"the page of {page.student} has the state {state!r}")
    if page.late:
        yield page.late
    total = f"{_number(page.score)} of {page.points:g} points"
    if page.penalty:
        total = f"{_number(page.before_penalty)} − {_number(page.penalty)} for lateness = {total}"
    waiting = [part.title for part in page.parts if part.earned is None]
    yield f"Score{' so far' if waiting else ''}: {total}."
    if waiting:
        yield f"Not marked yet: {safe(', '.join(waiting))}."


def _points(page: Page) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("step", overflow="fold")
    table.add_column("points", justify="right")
    table.add_column("of", justify="right")
    table.add_column("")
    for part in page.parts:
        remark = "manual" if isinstance(part, ExerciseView) and part.is_manual else ""
        if part.earned is None:
            remark = "no mark yet" if isinstance(part, AnswerView) else "the grader failed"
        elif isinstance(part, AnswerView) and not part.text:
            remark = "left empty"
        table.add_row(safe(part.title), _number(part.earned), f"{part.points:g}", remark)
    return table


def _part(part: Part, console: Console, every_check: bool = False) -> None:
    earned = f"{_number(part.earned)} of {part.points:g}"
    console.print(f"[bold]{safe(part.title)}[/]: {earned} points", highlight=False)
    if isinstance(part, ExerciseView) and part.result is not None:
        checks = [check for check in part.result.checks if every_check or not check.passed]
        if checks:
            console.print(Padding(_checks(checks), (0, 0, 0, 2)))
        for sentence in (*part.result.advice, *part.replaced):
            _indented(sentence, console)
        if part.result.not_graded:
            _indented(part.result.not_graded, console)
    if part.comment:
        _indented(f"A TA wrote: {part.comment}", console)


def _checks(checks: Sequence[CheckResult]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column()
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for check in checks:
        sign = "✓" if check.passed else "✗"
        hidden = " (hidden)" if check.hidden else ""
        points = f"{_number(check.earned)} of {check.points:g}"
        table.add_row(sign, points, f"{safe(check.title)}{hidden}")
    return table


def _indented(text: str, console: Console) -> None:
    console.print(Padding(safe(" ".join(text.split())), (0, 0, 0, 4)), highlight=False)


def _past(past: EarlierResult) -> str:
    points = "no points" if past.earned is None else f"{_number(past.earned)} points"
    return f"hand-in {past.hand_in}: {points} ({past.state})"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{round(value, 2):g}"
