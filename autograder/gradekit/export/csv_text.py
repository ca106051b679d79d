"""A CSV file in which single cells change, and every other byte stays.

A course system reads back what it wrote. So its separators, quotes, line ends and its mark of
encoding are left as they are, which Python's csv writer cannot do.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from gradekit.errors import ExportError

SEPARATORS = ",;\t"


@dataclass(frozen=True)
class Cell:
    """One cell: where it stands in the text, and its value."""

    start: int
    end: int
    value: str


@dataclass(frozen=True)
class CsvText:
    """The text of a CSV file.

    Attributes:
        name: the file's name, for messages.
        text: all of it, without the mark of its encoding.
        encoding: in which it was read and will be written.
        mark: the bytes before the text.
    """

    name: str
    text: str
    encoding: str = "utf-8"
    mark: bytes = b""

    @classmethod
    def read(cls, path: Path) -> CsvText:
        """Read a file in UTF-8 or UTF-16.

        Raises:
            ExportError: it is neither, or cannot be read.
        """
        try:
            data = path.read_bytes()
        except OSError as error:
            raise ExportError(f"{path} cannot be read: {error.strerror}") from error
        marks = {
            codecs.BOM_UTF8: "utf-8",
            codecs.BOM_UTF16_LE: "utf-16-le",
            codecs.BOM_UTF16_BE: "utf-16-be",
        }
        mark = next((mark for mark in marks if data.startswith(mark)), b"")
        encoding = marks.get(mark, "utf-8")
        try:
            return cls(path.name, data[len(mark) :].decode(encoding), encoding, mark)
        except UnicodeDecodeError as error:
            raise ExportError(
                f"{path.name} is not UTF-8; take the file as the system made it"
            ) from error

    @cached_property
    def separator(self) -> str:
        """What stands between two cells."""
        return max(SEPARATORS, key=self.text.partition("\n")[0].count)

    @cached_property
    def rows(self) -> tuple[tuple[Cell, ...], ...]:
        """All rows with their cells; a line without a letter is a row of one empty cell.

        Raises:
            ExportError: a quote has no end.
        """
        separator = re.escape(self.separator)
        pattern = re.compile(
            rf'(?:"((?:[^"]|"")*)"|([^{separator}\r\n"]*))({separator}|\r\n|\r|\n|\Z)'
        )
        rows: list[tuple[Cell, ...]] = []
        cells: list[Cell] = []
        at = 0
        while at < len(self.text) or cells:
            found = pattern.match(self.text, at)
            if found is None:
                line = self.text.count("\n", 0, at) + 1
                raise ExportError(f"{self.name}, line {line}: a quote is missing")
            inside, alone, end = found.groups()
            value = alone if inside is None else inside.replace('""', '"')
            cells.append(Cell(at, found.end() - len(end), value))
            at = found.end()
            if end != self.separator:
                rows.append(tuple(cells))
                cells = []
        return tuple(rows)

    def with_values(self, values: Mapping[Cell, str]) -> bytes:
        """The file with these cells changed; a cell that has its value already keeps its bytes."""
        pieces, done = [], 0
        for cell in sorted(values, key=lambda cell: cell.start):
            if values[cell] == cell.value:
                continue
            pieces += [self.text[done : cell.start], self._written(values[cell])]
            done = cell.end
        pieces.append(self.text[done:])
        return self.mark + "".join(pieces).encode(self.encoding)

    def _written(self, value: str) -> str:
        if (
            any(sign in value for sign in (self.separator, '"', "\r", "\n"))
            or value != value.strip()
        ):
            return '"' + value.replace('"', '""') + '"'
        return value
