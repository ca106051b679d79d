"""`lab term` as a head TA types it: 80 columns, files, JSON, and one sentence for an error."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from gradekit.cli import app
from gradekit.course import Course, load_course
from gradekit.course.tables import CourseFile
from gradekit.errors import ExportError
from gradekit.export.scores import Score, ScoreState
from gradekit.late import Lateness
from gradekit.roster.students import Student
from gradekit.term.result import Counting, LabResult, term_of
from gradekit.term.tables import term_csv, term_xlsx, write_term
from gradekit.term.term import Term
from gradekit.term.view import show_term

LABS = tuple(f"lab{number:02}" for number in range(8))
ROOT = Path(__file__).parents[3]
COURSE = (
    '[course]\nname = "A course"\n[term]\ndrop_lowest = 1\nscale = { A = 90, F = 0 }\n'
    + "".join(
        f'[[lab]]\nid = "{lab}"\ntitle = "=T"\nrelease = 2026-09-01\ndue = 2026-09-08\n'
        for lab in LABS
    )
)


@pytest.fixture
def course(tmp_path: Path) -> Course:
    (tmp_path / "course.toml").write_text(COURSE)
    return load_course(tmp_path)


@pytest.fixture
def term(course: Course) -> Term:
    """Eight labs; one student with all kinds of cells, one whose id would be a formula."""
    due = datetime(2026, 9, 11, tzinfo=UTC)
    full = LabResult("", _score(16.0), 100, None, Counting.YES)
    missing = replace(full, score=_score(None, state=ScoreState.MISSING))
    kinds = [
        replace(full, score=_score(12.8, penalty=3.2, lateness=Lateness(9e4, 2, 10, 1, 2))),
        replace(full, own_due=due),
        missing,
        replace(full, score=_score(8.0, state=ScoreState.OPEN)),
        replace(missing, counts=Counting.NOT_YET),
        replace(full, counts=Counting.NO_WEIGHT, weight=0),
        full,
        full,
    ]
    rule = course.values.term
    rows = []
    for student, cells in (
        (Student("wilhelmina", "Wilhelmina von Hohenstein-Waldburg", section="Mon"), kinds),
        (Student("=1+2", "=cmd()", section="@x"), [full] * 8),
    ):
        labs = [replace(cell, lab=lab) for lab, cell in zip(LABS, cells, strict=True)]
        rows.append(term_of(student, labs, rule, 3))
    return Term(course, LABS, tuple(rows), ("lab09 has no results; it does not count yet.",))


def _score(raw: float | None, **changes: object) -> Score:
    values = {"state": ScoreState.GRADED, "when": None, "parts": {}, "penalty": 0.0, "of": 16.0}
    values |= {"lateness": Lateness(), "raw": raw, **changes}
    score = Score(Student("x", "X"), **values)  # type: ignore[arg-type]
    return score if raw is None else replace(score, raw=raw + score.penalty)


def test_eight_labs_fit_into_eighty_columns(term: Term):
    out = io.StringIO()
    show_term(term, Console(file=out, width=80))
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    assert max(map(len, lines)) <= 80
    head, _, first = lines[:3]
    assert head.split() == ["student", *LABS, "total", "grade"]
    assert first.split() == [
        "wilhelmina", "80", "100", "(none)", "50?", "open", "100", "100", "100", "86.00", "F",
    ]  # fmt: skip
    assert lines[5:] == [
        "2 students. Numbers are per cent of a lab's points, after lateness.",
        "Weights: lab00 100, lab01 100, lab02 100, lab03 100, lab04 100, lab05 100, lab06",
        "100, lab07 100.",
        "In parentheses: the lowest lab of a student, dropped.",
        "none: nothing was handed in; counts as 0.",
        "?: not final, because a part needs manual grading.",
        "open: no result yet; does not count yet.",
        "lab09 has no results; it does not count yet.",
    ]


def test_of_a_file_only_the_rules_are_printed(term: Term):
    out = io.StringIO()
    show_term(term, Console(file=out, width=80), with_rows=False)
    assert out.getvalue().startswith("2 students. Numbers are per cent")
    assert "wilhelmina" not in out.getvalue()


def test_the_page_shows_what_the_command_prints(tmp_path: Path):
    rule = "[term]\ndrop_lowest = 1\nscale = { A = 90, B = 80, C = 70, D = 60, F = 0 }\n"
    labs = COURSE.partition("[[lab]]")[2].split("[[lab]]")[1:4]
    text = '[course]\nname = "A course"\n' + rule + "".join(f"[[lab]]{lab}" for lab in labs)
    (tmp_path / "course.toml").write_text(text + "weight = 200\n")
    course = load_course(tmp_path)
    rows = []
    for student, raws in (("ada", (8.0, 5.0, 12.0)), ("bob", (None, 16.0, 14.0))):
        scores = [
            _score(raw, state=ScoreState.GRADED if raw else ScoreState.MISSING) for raw in raws
        ]
        cells = [
            LabResult(lab, score, course.weight(lab), None, Counting.YES)
            for lab, score in zip(course.labs, scores, strict=True)
        ]
        rows.append(term_of(Student(student, student), cells, course.values.term, 0))
    out = io.StringIO()
    show_term(Term(course, course.labs, tuple(rows), ()), Console(file=out, width=80))
    shown = "\n".join(line.rstrip() for line in out.getvalue().splitlines())
    assert shown in (ROOT / "docs" / "term.md").read_text("utf-8")


def test_each_rule_has_a_column(term: Term):
    first, second = csv.DictReader(io.StringIO(term_csv(term)))
    assert {name: first[f"lab00 {name}"] for name in ("score", "of", "percent", "penalty")} == {
        "score": "12.8", "of": "16.0", "percent": "80.0", "penalty": "3.2",
    }  # fmt: skip
    assert (first["lab00 days late"], first["lab00 slip days"]) == ("2", "1")
    assert first["lab01 extended to"] == "2026-09-11 00:00+00:00"
    assert [first[f"{lab} counts"] for lab in LABS] == [
        "yes", "yes", "dropped", "yes", "not yet", "no weight", "yes", "yes",
    ]  # fmt: skip
    assert (first["lab02 state"], first["lab02 score"], first["lab02 percent"]) == (
        "missing", "", "0.0",
    )  # fmt: skip
    assert (first["days late"], first["slip days used"], first["slip days left"]) == ("2", "1", "2")
    assert (first["missing"], first["dropped"], first["final"]) == ("lab02", "lab02", "no")
    assert (first["total percent"], first["grade"]) == ("86.0", "F")
    assert (second["id"], second["name"], second["section"]) == ("'=1+2", "'=cmd()", "'@x")
    assert second["final"] == "yes"


def test_the_workbook_has_the_rules_and_no_formula(term: Term):
    import openpyxl

    book = openpyxl.load_workbook(io.BytesIO(term_xlsx(term)))
    assert book.sheetnames == ["term", "rules"]
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row]
    assert not any(cell.data_type == "f" for cell in cells)
    rules = {row[0]: row[1] for row in book["rules"].iter_rows(values_only=True) if row[0]}
    assert rules["lowest labs that are dropped"] == 1
    assert rules["grade A: from this percentage on"] == 90
    assert rules["lab00"] == "=T"


def test_the_ending_tells_the_kind(term: Term, tmp_path: Path):
    assert write_term(term, None, tmp_path / "marks.xlsx").read_bytes()[:2] == b"PK"
    assert write_term(term, "csv", None) == term.course.root / "exports" / "term.csv"
    with pytest.raises(ExportError, match="--to ods: the kinds are csv and xlsx"):
        write_term(term, "ods", None)


def test_a_course_without_results_is_one_sentence(course: Course):
    done = CliRunner().invoke(app, ["term", "--course", str(course.root)])
    assert done.exit_code == 1
    assert str(done.exception) == "no lab has results yet; `lab grade LAB` makes them"


def test_a_typo_in_the_table_is_told(tmp_path: Path):
    (tmp_path / "course.toml").write_text(COURSE.replace("drop_lowest", "drop_worst"))
    with pytest.raises(Exception, match=r"\[term\] has no drop_worst"):
        load_course(tmp_path)
    assert CourseFile.model_fields["term"].default.drop_lowest == 0
