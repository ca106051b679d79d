"""Terminal output of ``lab grade``: a bar with time left, then a table and what needs attention."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from gradekit.feedback.plain_text import plain_line
from gradekit.grading.progress import ProgressReporter
from gradekit.grading.summary import GradingSummary, Row
from gradekit.results.records import State
from gradekit.wording import counted, fitted


class _Bar:
    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._task = bar.add_task("grading", total=None, visible=False)

    def say(self, sentence: str) -> None:
        console = self._bar.console
        shown = fitted(_safe(sentence), console.is_terminal)
        console.print(shown, highlight=False, soft_wrap=True)

    def begin(self, total: int) -> None:
        self._bar.update(self._task, total=total, visible=total > 0)

    def advance(self, student: str) -> None:
        self._bar.update(self._task, advance=1, description=f"graded {_safe(student)}")


class _Quiet(_Bar):
    """No bar, for programs that read the other stream; messages are still shown."""

    def begin(self, total: int) -> None:
        pass

    def advance(self, student: str) -> None:
        pass


@contextmanager
def progress_bar(quiet: bool = False) -> Iterator[ProgressReporter]:
    """A bar on the terminal's error stream; if `quiet`, only messages are shown there."""
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    )  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=quiet) as bar:
        yield _Quiet(bar) if quiet else _Bar(bar)


def show_summary(summary: GradingSummary) -> None:
    """Print the class's table and a line of totals."""
    console = Console()
    if not summary.rows:
        console.print(f"{summary.lab}: no hand-ins yet; `lab collect` brings them here.")
        return
    table = Table(title=f"{summary.lab}: {counted(len(summary.rows), 'hand-in')}")
    table.add_column("student")
    table.add_column("state")
    table.add_column("points", justify="right")
    table.add_column("score", justify="right")
    table.add_column("note", overflow="fold")
    for row in summary.rows:
        table.add_row(
            _safe(row.student), _state(row.state), _points(row), _score(row), _safe(row.reason)
        )
    console.print(table)
    _show_changes(summary, console)
    if summary.missing:
        names = ", ".join(summary.missing)
        absent = counted(len(summary.missing), "student")
        console.print(f"{absent} without a hand-in: {_safe(names)}", highlight=False)
    waiting = sum(row.score is not None and not row.final for row in summary.rows)
    if waiting:
        count = counted(waiting, "hand-in")
        console.print(
            f"+: not final, because a part needs manual grading ({count})", highlight=False
        )
    counts = Counter(row.state for row in summary.rows)
    console.print(
        f"{summary.graded} graded now, {len(summary.rows) - summary.graded} as before; states: "
        + ", ".join(f"{count} {state}" for state, count in counts.items())
        + f"; {summary.seconds:.1f} s",
        highlight=False,
    )


def _show_changes(summary: GradingSummary, console: Console) -> None:
    """Whose points moved against the last run, and the manual marks that this concerns."""
    if summary.changes:
        count = len(summary.changes)
        students = "student has" if count == 1 else "students have"
        table = Table(title=f"{count} {students} points that changed")
        table.add_column("student")
        table.add_column("before", justify="right")
        table.add_column("now", justify="right")
        table.add_column("why", overflow="fold")
        # After a change of checks, a whole class has the same reasons: they are said once.
        first = dict[tuple[str, ...], str]()
        for change in summary.changes:
            same = first.setdefault(change.reasons, change.student)
            why = "\n".join(map(_safe, change.reasons))
            if same != change.student:
                why = f"as for {_safe(same)}"
            table.add_row(_safe(change.student), _number(change.before), _number(change.after), why)
        console.print(table)
    for sentence in summary.look_at:
        console.print(_safe(sentence), highlight=False)


def _state(state: State) -> str:
    """A state in its colour."""
    match state:
        case State.GRADED:
            return str(state)
        case State.LATE:
            return f"[yellow]{state}[/]"
        case State.THEIRS:
            return f"[red]{state}[/]"
        case State.OURS:
            return f"[bold red]{state}[/]"
        case _:
            raise ValueError(f"a row has the state {state!r}")


def _safe(text: str) -> str:
    """Text of a student's for the terminal: no markup, and nothing that steers a terminal."""
    return escape(plain_line(text))


def _points(row: Row) -> str:
    return "–" if row.earned is None else f"{row.earned:g} of {row.points:g}"


def _score(row: Row) -> str:
    """The score; a plus if it is not final."""
    open_part = row.score is not None and not row.final
    return f"{_number(row.score)}+" if open_part else _number(row.score)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"
