"""Tables for spreadsheets: empty is not 0, and no text is a formula."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

import pytest
from openpyxl import load_workbook

from gradekit.export.tables import to_csv, to_xlsx
from gradekit.roster.students import Student
from tests.helpers.scores import score_of, scores_of_class

HEADING = [
    "id",
    "name",
    "section",
    "state",
    "handed in",
    "softmax",
    "explain",
    "raw",
    "penalty",
    "score",
    "of",
]
EVIL = Student("evil", '=HYPERLINK("http://x")', section="@now")


def test_one_row_for_each_student(tmp_path):
    rows = list(csv.reader(io.StringIO(to_csv(scores_of_class(tmp_path)))))
    assert rows[0] == HEADING
    assert rows[3] == [
        "lei.li",
        "李 雷",
        "Mon",
        "late",
        "2026-09-19 10:15+00:00",
        "80.0",
        "0.0",
        "80.0",
        "8.0",
        "72.0",
        "100.0",
    ]
    assert rows[4] == [
        "vdberg",
        "Jan van der Berg",
        "Tue",
        "missing",
        "",
        "",
        "",
        "",
        "",
        "",
        "100.0",
    ]
    assert rows[5][9] == "0.0"


def test_no_text_is_a_formula():
    rows = list(csv.reader(io.StringIO(to_csv([score_of(EVIL, -1.0)]))))
    assert rows[1][1:3] == ['\'=HYPERLINK("http://x")', "'@now"]
    assert rows[1][7] == "-1.0"  # a number is a number
    sheet = load_workbook(io.BytesIO(to_xlsx({"lab01": [score_of(EVIL, 3.0)]})))["lab01"]
    assert sheet["B2"].value == EVIL.name
    assert sheet["B2"].data_type == "s"


@pytest.mark.parametrize(
    "name",
    ["Eve;=1+1", "Eve\t@SUM(1)", 'Eve";=1+1', "Eve,-1+1", "Eve\n+1", "  =1+1", "＝1+1", "Eve|=1"],
)
def test_no_text_is_a_formula_whatever_separates_cells(name):
    text = to_csv([score_of(Student("evil", name), 3.0)])
    assert any(_begins_a_formula(name, sign) for sign in ";,\t|")
    assert not any(_begins_a_formula(text, sign) for sign in ";,\t|")


def test_a_control_character_does_not_stop_a_workbook():
    """XML has no letter for it; a folder that was made by hand may have any name."""
    odd = Student("eve\x1b[31m", "Eve\x00")
    sheet = load_workbook(io.BytesIO(to_xlsx({"lab01": [score_of(odd, 3.0)]})))["lab01"]
    assert [cell.value for cell in sheet[2]][:2] == [
        "eve\N{REPLACEMENT CHARACTER}[31m",
        "Eve\N{REPLACEMENT CHARACTER}",
    ]


def test_an_ordinary_name_stays_as_it_is():
    for name in ("Meyer-Lühr, Zoë", "O'Brien", "Ada (a=b)", "Nguyễn Văn A."):
        rows = list(csv.reader(io.StringIO(to_csv([score_of(Student("a", name), 3.0)]))))
        assert rows[1][1] == name


def _begins_a_formula(text, separator):
    """Whether a spreadsheet that separates cells at `separator`, or at a quote, sees a formula."""
    cells = (cell for line in text.splitlines() for cell in re.split(f'["{separator}]', line))
    return any(cell.strip()[:1] in tuple("=+-@＝＋－＠") for cell in cells if cell.strip())


def test_a_workbook_has_a_sheet_for_each_lab(tmp_path):
    scores = scores_of_class(tmp_path)
    book = load_workbook(io.BytesIO(to_xlsx({"lab01": scores, "lab02": scores[:1]})))
    assert book.sheetnames == ["lab01", "lab02"]
    rows = list(book["lab01"].values)
    assert list(rows[0]) == HEADING
    assert rows[4][9] is None  # missing is not 0
    assert rows[5][9] == 0


def test_without_students_there_is_the_heading_alone():
    assert to_csv([]).startswith("id,name,section,state,handed in,raw")


def test_a_score_is_never_below_zero(tmp_path):
    score = replace(scores_of_class(tmp_path)[0], penalty=99.0)
    assert score.score == 0.0
