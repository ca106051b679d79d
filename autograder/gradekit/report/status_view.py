"""Terminal output of ``lab status``: one line for each lab, then what waits.

Tested in tests/gradekit/report/test_status.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from gradekit.report.status import LabStatus


def show_status(labs: Sequence[LabStatus], console: Console | None = None) -> None:
    """Print every lab, and below it what staff have to do."""
    console = console or Console()
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("lab")
    table.add_column("state", no_wrap=True)
    table.add_column("due", no_wrap=True)
    for heading in ("handed in", "graded", "to mark", "pages"):
        table.add_column(heading, justify="right")
    for one in labs:
        of = "" if one.students is None else f" of {one.students}"
        handed_in = f"{one.collected}{of}" if one.collected or one.phase != "not released" else ""
        counts = (one.graded, one.to_mark, one.pages)
        table.add_row(
            one.lab,
            str(one.phase),
            f"{one.due:%a %d %b %H:%M}",
            handed_in,
            *(str(count) if one.collected else "" for count in counts),
        )
    console.print(table)
    zones = dict.fromkeys(str(one.due.tzinfo) for one in labs)
    console.print(f"Due dates are in {' and '.join(zones)}.", highlight=False)
    lines = [f"{one.lab}: {line}" for one in labs for line in one.to_do]
    for line in lines or ["Nothing waits."]:
        console.print(line, highlight=False)
