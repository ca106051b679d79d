"""A CSV file in which single cells change: everything else keeps its bytes."""

from __future__ import annotations

import codecs
import csv
import io
import random

import pytest

from gradekit.errors import ExportError
from gradekit.export.csv_text import CsvText

TEXTS = [
    "a,b\n1,2\n",
    'a,b\r\n"x, y",""\r\n"say ""hi""",3\r\n',
    "a;b\n1,5;2\n",
    "a\tb\n\t\n",
    'a,b\n"two\nlines",2',
    "a,b\n\n1,2\n\n",
    "a\n",
    "",
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize(
    ("mark", "encoding"),
    [(b"", "utf-8"), (codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le")],
)
def test_without_a_change_every_byte_stays(text, mark, encoding, tmp_path):
    path = tmp_path / "file.csv"
    path.write_bytes(mark + text.encode(encoding))
    file = CsvText.read(path)
    same = {cell: cell.value for row in file.rows for cell in row}
    assert file.with_values({}) == file.with_values(same) == path.read_bytes()


@pytest.mark.parametrize("text", [text for text in TEXTS if text])
def test_cells_are_those_that_pythons_reader_finds(text):
    file = CsvText("file.csv", text)
    expected = csv.reader(io.StringIO(text, newline=""), delimiter=file.separator)
    found = [[cell.value for cell in row] for row in file.rows]
    assert [row for row in found if row != [""]] == [row for row in expected if row]


def test_one_cell_changes_and_pythons_reader_reads_it():
    draw = random.Random(0)
    for _ in range(300):
        table = [
            ["".join(draw.choices('a,;"\n é', k=draw.randint(0, 4))) for _ in "abc"] for _ in "xyz"
        ]
        table[0] = ["one", "two", "three"]
        out = io.StringIO(newline="")
        csv.writer(out, lineterminator=draw.choice(["\n", "\r\n"])).writerows(table)
        file = CsvText("file.csv", out.getvalue())
        row, column = draw.randint(1, 2), draw.randint(0, 2)
        value = "".join(draw.choices('b,"\n ', k=draw.randint(0, 3)))
        changed = file.with_values({file.rows[row][column]: value}).decode()
        table[row][column] = value
        assert list(csv.reader(io.StringIO(changed, newline=""))) == table


def test_a_lonely_quote_is_named_with_its_line():
    with pytest.raises(ExportError, match=r"file.csv, line 2: a quote is missing"):
        _ = CsvText("file.csv", 'a,b\n1,"2\n').rows


def test_a_file_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "file.csv").write_bytes(b"\xff\x00PK")
    with pytest.raises(ExportError, match="is not UTF-8"):
        CsvText.read(tmp_path / "file.csv")
    with pytest.raises(ExportError, match="cannot be read: No such file"):
        CsvText.read(tmp_path / "missing.csv")
