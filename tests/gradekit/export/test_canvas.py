"""Canvas's gradebook: one column is filled, and every other byte stays."""

from __future__ import annotations

import csv
import io

import pytest

from gradekit.errors import ExportError
from gradekit.export.canvas import fill_canvas
from gradekit.export.csv_text import CsvText
from tests.helpers.exports import canvas_gradebook
from tests.helpers.scores import filling_of, score_of


@pytest.fixture
def gradebook(tmp_path):
    def make(**how):
        path = tmp_path / "gradebook.csv"
        path.write_bytes(canvas_gradebook(**how))
        return CsvText.read(path)

    return make


def column_of(data, number, delimiter=","):
    rows = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), delimiter=delimiter)
    return {row[0]: row[number] for row in rows}


def test_the_labs_column_is_filled(gradebook, tmp_path):
    filled = fill_canvas(gradebook(), filling_of(tmp_path))
    assert column_of(filled.data, 6) == {
        "Student": "Lab01 Softmax (31337)",
        "": "",
        "    Points Possible": "100.00",
        "Lovelace, Ada": "12.50",
        "O'Neil, Zoë": "EX",  # excused in Canvas
        "雷, 李": "72.00",  # 80 and 10 % off
        "van der Berg, Jan": "N/A",
        "Müller-Lüth, Jürgen": "0.00",  # handed in, nothing right
        "Hopper, Grace King": "7.25",
        "Student, Test": "",
    }
    assert filled.students == 4
    assert filled.notes == ("Zoë O'Neil (zoneil) has 90 points, but is excused in Canvas",)


def test_every_other_byte_stays(gradebook, tmp_path):
    before = gradebook()
    after = CsvText("gradebook.csv", fill_canvas(before, filling_of(tmp_path)).data.decode())
    assert len(before.rows) == len(after.rows)
    for old, new in zip(before.rows, after.rows, strict=True):
        texts = [
            [file.text[cell.start : cell.end] for at, cell in enumerate(row) if at != 6]
            for file, row in ((before, old), (after, new))
        ]
        assert texts[0] == texts[1]


def test_filling_again_changes_nothing(gradebook, tmp_path):
    once = fill_canvas(gradebook(), filling_of(tmp_path)).data
    twice = fill_canvas(CsvText("gradebook.csv", once.decode()), filling_of(tmp_path)).data
    assert once == twice


def test_a_country_with_decimal_commas(gradebook, tmp_path):
    template = gradebook(decimal=",")
    filled = fill_canvas(template, filling_of(tmp_path)).data
    assert filled.startswith(b"\xef\xbb\xbf")
    assert column_of(filled, 6, ";")["雷, 李"] == "72,00"


def test_whoever_is_missing_keeps_what_stands_there(gradebook, tmp_path):
    filling = filling_of(tmp_path)
    scores = [score_of(score.student, None) for score in filling.scores]
    filled = fill_canvas(gradebook(), type(filling)("lab01", "Softmax", scores))
    assert filled.data == gradebook().with_values({})
    assert filled.students == 0


def test_a_column_is_named_by_title_or_number(gradebook, tmp_path):
    for name in ("Lab02 Sequences", "31338", "Lab02 Sequences (31338)"):
        filled = fill_canvas(gradebook(), filling_of(tmp_path), name)
        assert column_of(filled.data, 7)["Lovelace, Ada"] == "12.50"
        assert column_of(filled.data, 6)["Lovelace, Ada"] == "12.50"  # as before


def test_a_column_that_is_not_there_is_told_with_those_that_are(gradebook, tmp_path):
    with pytest.raises(ExportError, match=r"no column 'Lab3'.*'Lab01 Softmax', 'Lab02 Sequences'"):
        fill_canvas(gradebook(), filling_of(tmp_path), "Lab3")
    filling = filling_of(tmp_path)
    filling.lab = "lab"
    with pytest.raises(ExportError, match="has 2 columns for the lab; name one with --column"):
        fill_canvas(gradebook(), filling)


def test_other_points_are_refused_or_converted(gradebook, tmp_path):
    with pytest.raises(ExportError, match=r"lab01 has 100 points, but .* counts 10; correct"):
        fill_canvas(gradebook(points=10), filling_of(tmp_path))
    filled = fill_canvas(gradebook(points=10), filling_of(tmp_path, scale=True))
    assert column_of(filled.data, 6)["雷, 李"] == "7.20"


def test_people_of_one_list_alone_are_named(gradebook, tmp_path):
    filling = filling_of(tmp_path)
    template = gradebook()
    filling = type(filling)("lab01", "Softmax", list(filling.scores)[1:])
    assert fill_canvas(template, filling).notes[0] == "Lovelace, Ada: not in students.csv"
    lines = [line for line in template.text.splitlines(keepends=True) if "Hopper" not in line]
    notes = fill_canvas(CsvText("gradebook.csv", "".join(lines)), filling_of(tmp_path)).notes
    assert notes[1] == "Grace King Hopper (g_k) has 7.25 points, but is not in gradebook.csv"


def test_many_who_are_not_in_the_file_are_one_sentence(gradebook, tmp_path, monkeypatch):
    monkeypatch.setattr("gradekit.export.filling._MOST_LISTED", 1)
    lines = [
        line
        for line in gradebook().text.splitlines(keepends=True)
        if "Hopper" not in line and "雷" not in line
    ]
    notes = fill_canvas(CsvText("gradebook.csv", "".join(lines)), filling_of(tmp_path)).notes
    assert notes[1:] == ("2 students have points, but are not in gradebook.csv: lei.li, g_k",)
    monkeypatch.setattr("gradekit.export.filling._MOST_NAMED", 1)
    notes = fill_canvas(CsvText("gradebook.csv", "".join(lines)), filling_of(tmp_path)).notes
    assert notes[1].endswith("not in gradebook.csv: lei.li and 1 more")


def test_another_table_is_refused(tmp_path):
    with pytest.raises(ExportError, match=r"t.csv is not a gradebook of Canvas"):
        fill_canvas(CsvText("t.csv", "name,points\nada,1\n"), filling_of(tmp_path))
    with pytest.raises(ExportError, match=r"t.csv is not a gradebook of Canvas"):
        fill_canvas(CsvText("t.csv", ""), filling_of(tmp_path))
