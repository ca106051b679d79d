"""Terminal output of ``lab similar``.

Tested in tests/gradekit/similarity/test_commands.py.
"""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gradekit.feedback.plain_text import plain_line
from gradekit.similarity.compare import Similarity
from gradekit.similarity.words import NOT_A_PROOF, by_chance, groups_in_words
from gradekit.wording import counted

_MOST_SHOWN = 15


def show(found: Similarity, console: Console | None = None) -> None:
    """Print the pairs above the line and the groups that they make."""
    console = console or Console()
    texts = found.texts
    compared = f"{texts.lab}: {counted(len(texts.hand_ins), 'hand-in')} compared"
    if texts.unread:
        console.print(_safe(f"Not compared, no readable notebook: {', '.join(texts.unread)}."))
    if not found.pairs:
        console.print(f"{compared}. No pair agrees more than chance explains.")
        return
    console.print(f"{compared}; {counted(len(found.pairs), 'pair')} to look at.")
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("hand-ins", overflow="fold")
    table.add_column("by chance, once in", overflow="fold")
    table.add_column("steps", justify="right")
    table.add_column("most alike in", overflow="fold")
    for pair in found.pairs[:_MOST_SHOWN]:
        table.add_row(
            _safe(f"{pair.first.label}, {pair.second.label}"),
            by_chance(pair.expected).removeprefix("once in "),
            str(len(pair.agreements)),
            _safe(pair.agreements[0].step),
        )
    console.print(table)
    if len(found.pairs) > _MOST_SHOWN:
        console.print(f"… and {len(found.pairs) - _MOST_SHOWN} more; --json has all.")
    for group in groups_in_words(found):
        console.print(_safe(f"A group: {group}."), highlight=False)
    console.print(NOT_A_PROOF)


def _safe(text: str) -> str:
    return escape(plain_line(text))
