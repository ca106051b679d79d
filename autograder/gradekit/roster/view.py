"""Terminal output of ``lab roster``. Tested in tests/gradekit/roster/test_view.py."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gradekit.roster.students import FILE_NAME, Roster
from gradekit.wording import counted

# By what a hand-in may be recognised, besides id and name.
_WAYS = {
    "email": "address", "canvas_id": "Canvas", "sis_id": "university number",
    "moodle_name": "Moodle's name", "github": "GitHub",
}  # fmt: skip


def show(roster: Roster, console: Console | None = None) -> None:
    """Print everyone in a table, and the sizes of the sections; the JSON has every column."""
    console = console or Console()
    if not roster:
        console.print(
            f"There is no {FILE_NAME}, or nobody is in it; `lab roster import FILE` makes it from "
            "a list of your course system.",
            soft_wrap=True,
            highlight=False,
        )
        return
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in ("id", "name", "section", "known by"):
        table.add_column(heading, overflow="fold")
    for student in roster:
        known = ", ".join(words for field, words in _WAYS.items() if getattr(student, field))
        table.add_row(escape(student.id), escape(student.name), escape(student.section), known)
    console.print(table)
    sizes = Counter(student.section or "none" for student in roster)
    sections = ", ".join(f"{name} {size}" for name, size in sorted(sizes.items()))
    in_sections = f"; sections: {sections}" if roster.sections else ""
    students = counted(len(roster), "student")
    console.print(f"{students}{escape(in_sections)}", highlight=False, soft_wrap=True)


def to_json(roster: Roster) -> list[dict[str, str]]:
    """For programs."""
    return [asdict(student) for student in roster]
