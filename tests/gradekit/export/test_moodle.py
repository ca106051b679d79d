"""Moodle's grading worksheet: grades and comments are filled, and every other byte stays."""

from __future__ import annotations

import csv
import io

import pytest

from gradekit.errors import ExportError
from gradekit.export.csv_text import CsvText
from gradekit.export.moodle import fill_moodle
from tests.helpers.exports import CLASS, moodle_number, moodle_worksheet
from tests.helpers.scores import LATE, filling_of

GRADES = {
    "ada": "12.50",
    "zoneil": "90.00",
    "lei.li": "72.00",
    "vdberg": "",
    "jmueller": "0.00",
    "g_k": "7.25",
}


def worksheet(tmp_path, change=lambda text: text, **how):
    path = tmp_path / "grading.csv"
    path.write_bytes(change(moodle_worksheet(**how).decode("utf-8-sig")).encode("utf-8-sig"))
    return CsvText.read(path)


def rows_of(data):
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def test_grades_are_filled_by_person(tmp_path):
    filled = fill_moodle(worksheet(tmp_path), filling_of(tmp_path))
    rows = rows_of(filled.data)
    assert [row["Grade"] for row in rows] == [*GRADES.values(), ""]
    assert [row["Feedback comments"] for row in rows] == ["", "", LATE, "", "", "", ""]
    assert filled.notes == ("Max Absent: not in students.csv",)


def test_a_worksheet_without_names_is_filled_by_the_numbers_of_the_hand_ins(tmp_path):
    template = worksheet(tmp_path, hidden=True)
    alone = fill_moodle(template, filling_of(tmp_path))
    assert alone.students == 0
    assert len(alone.notes) == 7 + 5  # nobody of the one list is in the other
    numbers = {str(moodle_number(one, 1)): one.id for one in CLASS}
    filled = fill_moodle(template, filling_of(tmp_path, numbers=numbers))
    assert [row["Grade"] for row in rows_of(filled.data)] == [*GRADES.values(), ""]


def test_identifiers_line_ends_and_mark_stay(tmp_path):
    before = worksheet(tmp_path)
    data = fill_moodle(before, filling_of(tmp_path)).data
    assert data.startswith(b"\xef\xbb\xbf")
    assert data.count(b"\r\n") == before.text.count("\r\n") == 8
    untouched = [
        {name: value for name, value in row.items() if name not in ("Grade", "Feedback comments")}
        for row in rows_of(data)
    ]
    assert untouched == [
        {name: value for name, value in row.items() if name in untouched[0]}
        for row in rows_of(before.with_values({}))
    ]


def test_a_grade_that_is_locked_stays(tmp_path):
    template = worksheet(tmp_path, lambda text: text.replace("100.00,Yes", "100.00,No"))
    filled = fill_moodle(template, filling_of(tmp_path))
    assert filled.data == template.with_values({})
    assert "Ada Lovelace (ada) has 12.5 points, but is locked in Moodle" in filled.notes


def test_decimal_commas_stay(tmp_path):
    template = worksheet(tmp_path, lambda text: text.replace("100.00", '"100,00"'))
    rows = rows_of(fill_moodle(template, filling_of(tmp_path)).data)
    assert [row["Grade"] for row in rows] == [
        grade.replace(".", ",") for grade in [*GRADES.values(), ""]
    ]


def test_other_points_are_refused(tmp_path):
    template = worksheet(tmp_path, lambda text: text.replace("100.00", "20.00"))
    with pytest.raises(ExportError, match="lab01 has 100 points, but 'Maximum Grade' counts 20"):
        fill_moodle(template, filling_of(tmp_path))


def test_german_headings(tmp_path):
    german = {
        "Identifier": "ID-Nummer der Person",
        "Full name": "Vollständiger Name",
        "Email address": "E-Mail-Adresse",
        "Maximum Grade": "Bestwertung",
        "Grade can be changed": "Bewertung kann geändert werden",
        ",Grade,": ",Bewertung,",
    }

    def translated(text):
        for english, word in german.items():
            text = text.replace(english, word)
        return text

    rows = rows_of(fill_moodle(worksheet(tmp_path, translated), filling_of(tmp_path)).data)
    assert [row["Bewertung"] for row in rows] == [*GRADES.values(), ""]


def test_another_table_is_refused(tmp_path):
    with pytest.raises(ExportError, match=r"t.csv is not a grading worksheet of Moodle"):
        fill_moodle(CsvText("t.csv", "id,points\nada,1\n"), filling_of(tmp_path))


def test_two_rows_about_one_student_are_refused(tmp_path):
    template = worksheet(
        tmp_path, lambda text: text.replace("Max Absent,max@", "Ada Lovelace,ada@")
    )
    with pytest.raises(ExportError, match=r"Ada Lovelace \(ada\) has two rows"):
        fill_moodle(template, filling_of(tmp_path))
