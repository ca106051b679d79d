"""Scores as tables of our own: CSV and XLSX, for spreadsheets.

Names and ids come from students. A spreadsheet would run a text that begins like a formula, so such
a text gets an apostrophe in front in CSV, and every text is written as a text in XLSX. In many
countries a spreadsheet separates cells at semicolons, and a quote does not help then, so the same
holds after each sign that may separate cells.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence

from gradekit.export.scores import Score

# Where a cell may begin, and a sign with which a formula begins, in either width.
_FORMULA = re.compile(r"""(^|[;,|\t\r\n"'])(\s*)(?=[=+\-@＝＋－＠])""")

Value = str | float | None


def to_csv(scores: Sequence[Score]) -> str:
    """One lab's scores, a row for each student; numbers have a point."""
    return csv_of(_rows(scores))


def to_xlsx(labs: Mapping[str, Sequence[Score]]) -> bytes:
    """A workbook with a sheet for each lab."""
    return xlsx_of({lab: _rows(scores) for lab, scores in labs.items()})


def csv_of(rows: Iterable[Sequence[Value]]) -> str:
    """A table, its heading first; no text in it begins a formula."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    for row in rows:
        writer.writerow([_harmless(value) for value in row])
    return out.getvalue()


def xlsx_of(sheets: Mapping[str, Iterable[Sequence[Value]]]) -> bytes:
    """A workbook; the first row of each sheet is its heading, and two columns say who."""
    from openpyxl import Workbook
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
    from openpyxl.styles import Font

    book = Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for number, row in enumerate(rows, 1):
            for column, value in enumerate(row, 1):
                cell = sheet.cell(number, column)
                if isinstance(value, str):
                    cell.value = ILLEGAL_CHARACTERS_RE.sub("\N{REPLACEMENT CHARACTER}", value)
                    cell.data_type = "s"  # else a text with = in front becomes a formula
                else:
                    cell.value = value
                if number == 1:
                    cell.font = Font(bold=True)
        sheet.freeze_panes = "C2"
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _rows(scores: Sequence[Score]) -> list[list[Value]]:
    parts = list(scores[0].parts) if scores else []
    heading: list[Value] = [
        "id", "name", "section", "state", "handed in", *parts, "raw", "penalty", "score", "of",
    ]  # fmt: skip
    return [heading, *(_row(score) for score in scores)]


def _row(score: Score) -> list[Value]:
    student = score.student
    return [
        student.id, student.name, student.section, str(score.state),
        score.when.isoformat(" ", "minutes") if score.when else "", *score.parts.values(),
        score.raw, score.penalty if score.raw is not None else None, score.score, score.of,
    ]  # fmt: skip


def _harmless(value: Value) -> Value:
    return _FORMULA.sub(r"\1'\2", value) if isinstance(value, str) else value
