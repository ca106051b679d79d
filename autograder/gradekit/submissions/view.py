"""Terminal output of ``lab collect``: who, what and when in a table, then what needs attention.

Tested in tests/gradekit/submissions/test_view.py.
"""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gradekit.submissions.collected import Summary, Taken
from gradekit.wording import counted, fitted

_UNKNOWN = "[yellow]unknown[/]"
_FILE_WIDTH = 22


def show_collected(summary: Summary, lab: str, console: Console | None = None) -> None:
    """Print what a collection would take, one line for each student."""
    console = console or Console()
    if summary.taken:
        title = f"{lab}: {counted(len(summary.taken), 'hand-in')}; nothing was written"
        table = Table(title=title, box=SIMPLE_HEAD, pad_edge=False)
        table.add_column("student", overflow="fold", min_width=8)
        table.add_column("name", overflow="fold", min_width=10)
        table.add_column("file", overflow="ellipsis", no_wrap=True, max_width=_FILE_WIDTH)
        table.add_column("when", no_wrap=True)
        table.add_column("how", no_wrap=True)
        for taken in summary.taken:
            how = taken.time.words if taken.when else ""
            table.add_row(*map(_safe, _cells(taken)), _when(taken), how)
        console.print(table)
    zones = {str(taken.when.tzinfo): None for taken in summary.taken if taken.when}
    times = [f"Times are in {' and '.join(zones)}."] if zones else []
    for line in (*times, *summary.lines(dry_run=True)):
        shown = fitted(_safe(line), console.is_terminal)
        console.print(shown, highlight=False, soft_wrap=True)


def _cells(taken: Taken) -> tuple[str, str, str]:
    return taken.student, taken.name, taken.file.rpartition("/")[2]


def _when(taken: Taken) -> str:
    return f"{taken.when:%d %b %H:%M}" if taken.when else _UNKNOWN


def _safe(text: str) -> str:
    """Text that a student may have written: no markup, and nothing that steers a terminal."""
    return escape("".join(letter if letter.isprintable() else "?" for letter in text))
