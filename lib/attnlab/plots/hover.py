"""Tables that answer a pointer: inline SVG, in which each cell says what it means.

A browser shows a cell's ``<title>`` when the pointer rests on it, and CSS marks the cell and the
name of its row. There is no script, so the picture also works offline, in print and in exported
pages. Ink is ``currentColor`` and the ground is transparent, so it follows a dark theme.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from attnlab.plots.canvas import COLOURS

BLUE, VERMILION = COLOURS[0], COLOURS[1]

_NAMES_HIGH, _TITLE_HIGH = 18, 20  # pixels above and below the cells
_LETTER_WIDE = 6.5  # of a name, at the font size below

_STYLE = """\
.attnlab-hover { max-width: 100%; height: auto; font: 11px sans-serif; color: inherit; }
.attnlab-hover text { fill: currentColor; }
.attnlab-hover .cell rect { stroke: currentColor; stroke-opacity: .3; }
.attnlab-hover .cell text { font-weight: bold; }
.attnlab-hover .cell:hover rect { stroke-width: 2.5; stroke-opacity: 1; }
.attnlab-hover .row:hover > text { font-weight: bold; }
"""


@dataclass(frozen=True)
class Cell:
    """One cell of a table.

    Attributes:
        says: the sentence that the pointer brings up.
        strength: from 0, empty, to 1, the full colour.
        colour: of the cell, as CSS writes it.
        mark: a letter or sign in the cell.
    """

    says: str
    strength: float = 0.0
    colour: str = BLUE
    mark: str = ""


@dataclass(frozen=True)
class Table:
    """A table with names for its rows and columns.

    Attributes:
        title: above the table.
        rows: R names, from top to bottom.
        columns: C names, from left to right.
        cells: R rows of C cells.
    """

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    cells: Sequence[Sequence[Cell]]


def hover_tables(
    tables: Sequence[Table], alt: str, side: int, *, queries: str = "", keys: str = ""
) -> str:
    """The tables side by side, as one ``<svg>`` element.

    Args:
        tables: from left to right.
        alt: a description of the picture in words.
        side: of a cell, in pixels.
        queries: what the rows are, to the left of the first table.
        keys: what the columns are, below each table.
    """
    parts, left = [], 18 if queries else 0
    high = 0.0
    for table in tables:
        names = 4 + _LETTER_WIDE * max(map(len, table.rows))
        parts.append(_table(table, left + names, side, keys))
        wide = max(side * len(table.columns), _LETTER_WIDE * len(table.title))
        left += int(names + wide) + 10
        below = _NAMES_HIGH + (14 if keys else 0)
        high = max(high, _TITLE_HIGH + side * len(table.rows) + below)
    if queries:
        middle = _TITLE_HIGH + side * len(tables[0].rows) / 2
        turned = f'transform="translate(11 {middle:g}) rotate(-90)" text-anchor="middle"'
        parts.insert(0, f"<text {turned}>{escape(queries)}</text>")
    size = f'width="{left}" height="{high:g}" viewBox="0 0 {left} {high:g}"'
    return (
        f'<svg class="attnlab-hover" role="img" aria-label="{escape(alt)}" {size}>'
        f"<style>{_STYLE}</style>{''.join(parts)}</svg>"
    )


def _table(table: Table, left: float, side: int, keys: str) -> str:
    """One table whose first cell begins at `left`."""
    middle = left + side * len(table.columns) / 2
    below = _TITLE_HIGH + side * len(table.rows) + 13
    parts = [f'<text x="{left:g}" y="13" font-weight="bold">{escape(table.title)}</text>']
    for number, (name, cells) in enumerate(zip(table.rows, table.cells, strict=True)):
        top = _TITLE_HIGH + side * number
        label = f'x="{left - 4:g}" y="{top + side / 2 + 4:g}" text-anchor="end"'
        row = "".join(
            _cell(cell, left + side * column, top, side) for column, cell in enumerate(cells)
        )
        parts.append(f'<g class="row"><text {label}>{escape(name)}</text>{row}</g>')
    for column, name in enumerate(table.columns):
        x = left + side * (column + 0.5)
        parts.append(f'<text x="{x:g}" y="{below}" text-anchor="middle">{escape(name)}</text>')
    if keys:
        at = f'x="{middle:g}" y="{below + 14}" text-anchor="middle"'
        parts.append(f"<text {at}>{escape(keys)}</text>")
    return "".join(parts)


def _cell(cell: Cell, x: float, y: float, side: int) -> str:
    fill = f'fill="{cell.colour}" fill-opacity="{cell.strength:g}"'
    box = f'<rect x="{x:g}" y="{y:g}" width="{side}" height="{side}" {fill}/>'
    at = f'x="{x + side / 2:g}" y="{y + side / 2 + 4:g}" text-anchor="middle"'
    mark = f"<text {at}>{escape(cell.mark)}</text>" if cell.mark else ""
    return f'<g class="cell"><title>{escape(cell.says)}</title>{box}{mark}</g>'
