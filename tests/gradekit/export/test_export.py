"""`lab export` as a TA types it: what is refused, what is written, and where."""

from __future__ import annotations

import csv
import json

import pytest
from typer.testing import CliRunner

from gradekit.cli import app
from gradekit.errors import ExportError
from gradekit.export.export import Format, export, final_scores, format_named
from tests.helpers.submissions import LAB

CANVAS = """\
Student,ID,SIS Login ID,Section,lab01 (7)
    Points Possible,,,,16.00
"Lovelace, Ada",1,ada,S,
"Ross, Bob",2,bob,S,
"Charisse, Cyd",3,cyd,S,
"""


def lab(course, *arguments):
    return CliRunner().invoke(app, ["export", *arguments, "--course", str(course.root)])


def test_scores_that_are_not_final_are_refused(course):
    with pytest.raises(ExportError) as refused:
        final_scores(course, [LAB])
    assert str(refused.value) == (
        "lab01 is not final: of 8 students, 1 in need of manual grading, 1 not graded yet "
        "(`lab grade lab01`), 1 failed in the grader (`lab grade lab01` says why); --partial "
        "exports what there is"
    )


def test_a_table_of_the_whole_class(course):
    done = lab(course, "--partial")
    assert done.stdout.splitlines() == [
        "lab01: 8 students, 1 of them without a hand-in",
        "wrote exports/lab01.csv",
    ]
    with (course.root / "exports" / "lab01.csv").open(newline="") as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    assert len(rows) == 8
    assert rows["cyd"]["score"] == "8.0"
    assert rows["bob"]["score"] == rows["gil"]["score"] == ""


def test_json_for_programs(course):
    found = json.loads(lab(course, LAB, "--partial", "--json").stdout)
    assert [row["id"] for row in found["lab01"]] == [
        "ada",
        "bob",
        "cyd",
        "dan",
        "eve",
        "fay",
        "gil",
        "zed",
    ]
    assert found["lab01"][2] == {
        "id": "cyd", "name": "Cyd Charisse", "section": "Tue", "state": "late",
        "when": "2026-09-22T10:00:00+00:00",
        "points": {"softmax": 6.0, "entropy": 4.0, "explain": 0.0},
        "raw": 10.0, "penalty": 2.0, "score": 8.0, "of": 16.0,
    }  # fmt: skip


def test_canvas_gets_its_own_file_back(course, tmp_path):
    template = tmp_path / "gradebook.csv"
    template.write_text(CANVAS)
    done = lab(course, LAB, "--partial", "--to", "canvas", "--template", str(template))
    assert done.stdout.splitlines() == [
        "lab01: 2 scores filled in",
        "Eve Arden (eve) has 8 points, but is not in gradebook.csv",
        "Fay Wray (fay) has 0 points, but is not in gradebook.csv",
        "zed has 2 points, but is not in gradebook.csv",
        "wrote exports/lab01-gradebook.csv",
    ]
    expected = CANVAS.replace("ada,S,", "ada,S,16.00").replace("cyd,S,", "cyd,S,8.00")
    assert (course.root / "exports" / "lab01-gradebook.csv").read_text() == expected
    assert template.read_text() == CANVAS


def test_a_file_that_is_named_after_the_lab_keeps_its_name(course, tmp_path):
    template = tmp_path / "lab01-grades.csv"
    template.write_text(CANVAS)
    done = lab(course, LAB, "--partial", "--to", "canvas", "--template", str(template))
    assert done.stdout.splitlines()[-1] == "wrote exports/lab01-grades.csv"


@pytest.mark.parametrize("kind", ["xlsx", "json"])
def test_other_kinds_are_written(course, kind, tmp_path):
    out = tmp_path / f"marks.{kind}"
    done = lab(course, LAB, "--partial", "--to", kind, "--out", str(out))
    assert done.exit_code == 0
    assert out.stat().st_size > 100


def test_what_cannot_be_done_is_one_sentence(course, tmp_path):
    found = final_scores(course, [LAB], partial=True)
    with pytest.raises(ExportError, match="--to ods: the kinds are csv, json, xlsx, canvas"):
        format_named("ods")
    with pytest.raises(ExportError, match="--to moodle fills a file of Moodle's: add --worksheet"):
        export(course, found, Format.MOODLE)
    with pytest.raises(ExportError, match="fills one lab at a time"):
        export(course, {**found, "lab02": []}, Format.CANVAS, template=tmp_path / "g.csv")
    with pytest.raises(ExportError, match="2 labs make 2 files; name one lab for --out"):
        export(course, {**found, "lab02": []}, Format.CSV, out=tmp_path / "x.csv")
    template = tmp_path / "gradebook.csv"
    template.write_text(CANVAS)
    with pytest.raises(ExportError, match="is the template itself"):
        export(course, found, Format.CANVAS, template=template, out=template)
    (tmp_path / "file").write_text("")
    with pytest.raises(ExportError, match="cannot be written: File exists"):
        export(course, found, Format.CSV, out=tmp_path / "file" / "x.csv")
