"""A CSV file as rows with the numbers of their lines, whichever program wrote it.

Spreadsheet programs separate cells with commas, semicolons or tabs, depending on the country, and
write UTF-8 with or without a mark at its beginning, or UTF-16.

Tested in tests/gradekit/roster/test_students.py.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gradekit.errors import RosterError

MOST_BYTES = 32 * 2**20
_SEPARATORS = ",;\t"


@dataclass(frozen=True)
class Row:
    """One row.

    Attributes:
        line: where it begins; the heading is on line 1.
        cells: by column; spaces around a text are left out.
    """

    line: int
    cells: Mapping[str, str]


@dataclass(frozen=True)
class Table:
    """A CSV file with a heading.

    Attributes:
        name: the file's name, for messages.
        columns: in the order of the file.
    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def read_table(path: Path) -> Table:
    """The table in a CSV file; empty rows are left out.

    Raises:
        RosterError: it cannot be read, has no heading, a column twice, or a row of another length.
    """
    text = _text(path)
    heading = text.lstrip().partition("\n")[0]
    separator = max(_SEPARATORS, key=heading.count)
    lines = _rows(text, separator, path.name)
    start, columns = next(lines, (1, []))
    if not any(columns):
        raise RosterError(f"{path.name} is empty; its first line should name the columns")
    for name in columns:
        if name and columns.count(name) > 1:
            raise RosterError(
                f"{path.name}, line {start}: column {name!r} appears twice; remove one"
            )
    rows = []
    for line, cells in lines:
        if not any(cells):
            continue
        if any(cells[len(columns) :]):
            raise RosterError(
                f"{path.name}, line {line}: {len(cells)} cells, but the heading has "
                f'{len(columns)}; put a cell that contains a separator between "quotes"'
            )
        padded = [*cells, *[""] * (len(columns) - len(cells))]
        if any(cell and not name for name, cell in zip(columns, padded, strict=False)):
            raise RosterError(
                f"{path.name}, line {line}: a column without a name is not empty; name it on line "
                f"{start}"
            )
        named = zip(columns, padded, strict=False)
        rows.append(Row(line, {name: cell for name, cell in named if name}))
    return Table(path.name, tuple(filter(None, columns)), tuple(rows))


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise RosterError(f"{path.name} has more than {MOST_BYTES // 2**20} MiB; is it a CSV?")
        data = path.read_bytes()
    except OSError as error:
        raise RosterError(f"{path} cannot be read: {error.strerror}") from error
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise RosterError(
            f"{path.name}, line {line}: the text is not UTF-8; save the file as CSV UTF-8"
        ) from error
    if "\0" in text:
        raise RosterError(f"{path.name} is not a text file; export it as CSV")
    return text


def _rows(text: str, separator: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """Each row that is not empty, and the line on which it begins."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    line = 1
    try:
        for cells in reader:
            if cells:
                yield line, [cell.strip() for cell in cells]
            line = reader.line_num + 1
    except csv.Error as error:
        raise RosterError(
            f"{name}, line {line}: the row cannot be read ({error}); look for a missing quote"
        ) from error
