"""Terminal output of ``lab roster``. Tested in tests/gradekit/roster/test_view.py."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gradekit.roster.students import COLUMNS, FILE_NAME, Roster

_ALWAYS = ("id", "name")


def show(roster: Roster, console: Console | None = None) -> None:
    """Print everyone in a table, with the columns that anyone fills, and the sections."""
    console = console or Console()
    if not roster:
        console.print(
            f"There is no {FILE_NAME}, or nobody is in it; `lab roster import FILE` makes it from "
            "a list of your course system.",
            soft_wrap=True,
            highlight=False,
        )
        return
    filled = [
        name
        for name in COLUMNS
        if name in _ALWAYS or any(getattr(student, name) for student in roster)
    ]
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in filled:
        table.add_column(name, overflow="fold")
    for student in roster:
        table.add_row(*(escape(getattr(student, name)) for name in filled))
    console.print(table)
    sizes = Counter(student.section or "none" for student in roster)
    sections = ", ".join(f"{name} {size}" for name, size in sorted(sizes.items()))
    in_sections = f"; sections: {sections}" if roster.sections else ""
    console.print(f"{len(roster)} students{escape(in_sections)}", highlight=False, soft_wrap=True)


def to_json(roster: Roster) -> list[dict[str, str]]:
    """For programs."""
    return [asdict(student) for student in roster]
