"""`lab report --term`: who is where beside the class, and who fell."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from gradekit.cli import app
from gradekit.course import load_course
from gradekit.report.page import render_weeks, write_weeks
from gradekit.report.view import show_weeks
from gradekit.report.weeks import Weeks, weeks_of
from tests.helpers.pages import active
from tests.helpers.recorded import Points, record_lab
from tests.helpers.submissions import hand_in
from tests.helpers.terms import term_with

NOW = datetime(2026, 12, 1, 8, 0, tzinfo=UTC)
EVIL = "<script>PWN()</script>\x1b[2J"


def weeks(root: Path, results: dict[str, Sequence[float | None]]) -> Weeks:
    return weeks_of(term_with(root, results), NOW)


@pytest.fixture
def term(tmp_path: Path) -> Weeks:
    """Cyd stays below the others; dan falls behind them, and eve leaves in the third week."""
    return weeks(
        tmp_path,
        {
            "ada": (90, 80, 60, 70),
            "bob": (90, 80, 60, 70),
            "cyd": (80, 70, 50, 60),
            "dan": (90, 80, 20, 30),
            "eve": (100, 90, None, None),
        },
    )


def test_the_class_is_the_median_of_those_who_handed_in(term: Weeks) -> None:
    assert [(w.lab, w.handed_in, w.students, w.median) for w in term.weeks] == [
        ("lab00", 5, 5, 90), ("lab01", 5, 5, 80), ("lab02", 4, 5, 55), ("lab03", 4, 5, 65),
    ]  # fmt: skip


def test_the_page_has_the_time_of_the_course(tmp_path: Path) -> None:
    term = term_with(tmp_path, {"ada": (90, 80)})
    about = term.course.values.course.model_copy(update={"timezone": "Asia/Tokyo"})
    values = term.course.values.model_copy(update={"course": about})
    made = weeks_of(replace(term, course=term.course.model_copy(update={"values": values})), NOW)
    assert made.made_at.isoformat() == "2026-12-01T17:00:00+09:00"


def test_a_fall_is_against_the_class_and_not_against_earlier_percentages(term: Weeks) -> None:
    falls = {row.student.id: row.fall for row in term.rows}
    assert falls == {"ada": -5, "bob": -5, "cyd": -5, "dan": 35, "eve": 70}
    assert [row.student.id for row in term.fell] == ["eve", "dan"]
    assert term.rows[4].missing == (False, False, True, True)
    assert term.sentences() == [
        "5 students, 4 labs.",
        "The lowest median is 55\N{NO-BREAK SPACE}%, in lab02.",
        "2 students fell: compared with the class's median, the latest labs are 25 percentage "
        "points or more below those before.",
    ]


@pytest.mark.parametrize(
    ("results", "fall"), [((90, 90), None), ((90, 90, 50), 40.0), ((90,), None)]
)
def test_three_labs_are_needed(tmp_path: Path, results: Sequence[float], fall: float | None):
    class_of_three = dict.fromkeys(("ada", "bob", "cyd"), [90.0] * len(results))
    found = weeks(tmp_path, {**class_of_three, "dan": results})
    assert found.rows[3].fall == fall
    assert "fell" not in " ".join(found.sentences()) or fall


def test_labs_without_a_weight_are_left_out(tmp_path: Path) -> None:
    found = weeks_of(term_with(tmp_path, {"ada": (10, 90)}, no_weight=("lab00",)), NOW)
    assert [week.lab for week in found.weeks] == ["lab01"]
    assert found.rows[0].percents == (90,)


def test_the_page_has_a_line_for_everyone(term: Weeks, tmp_path: Path) -> None:
    html = render_weeks(term)
    assert html.count('<svg class="term"') == 5
    assert re.search(r"Eve .*?eve</span>.*?no hand-in: lab02, lab03</span>.*?−70", html, re.S)
    assert html.count("no hand-in: ") == 1
    assert html.count("<td>none</td>") == 2
    assert "staff only" in html
    assert not re.search(r"<script|https?://|src=|@import|url\(", html)
    assert write_weeks(load_course(tmp_path), term) == tmp_path / "reports" / "term-names.html"


def test_what_people_are_called_is_escaped(tmp_path: Path) -> None:
    found = weeks(tmp_path, {EVIL: (90, 90, 10), "a": (90, 90, 90), "b": (90, 90, 90)})
    assert len(found.fell) == 1
    html = render_weeks(found)
    assert active(html) == []
    assert html.count("PWN") >= 2
    console = Console(width=80, record=True, file=io.StringIO())
    show_weeks(found, console)
    text = console.export_text()
    assert "PWN" in text
    assert "\x1b" not in html + text


def test_the_first_lines_at_80_columns(term: Weeks) -> None:
    console = Console(width=80, record=True, file=io.StringIO())
    show_weeks(term, console)
    text = console.export_text()
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
    assert text.index("lab03") < text.index("Fell by much") < text.index("Eve (eve)")
    assert "Eve (eve) lab02, lab03" in " ".join(text.split())


def test_the_command_writes_the_page_and_prints_json(tmp_path: Path) -> None:
    course = term_with(tmp_path, {"ada": (50, 50)}).course
    (tmp_path / "students.csv").write_text("id,name\nada,Ada\n")
    hand_in(tmp_path, "ada", b"{}", "2026-09-02T10:00:00+00:00")
    record_lab(course, "lab01", {"ada": Points(8, 0)})
    run = CliRunner().invoke
    done = run(app, ["report", "--term", "--course", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "reports/term-names.html" in done.output
    values = json.loads(run(app, ["report", "--term", "--json", "--course", str(tmp_path)]).output)
    assert values["students"][0]["percents"] == [50.0]


@pytest.mark.parametrize("arguments", [["report"], ["report", "lab00", "--term"]])
def test_one_lab_or_the_term(tmp_path: Path, arguments: list[str]) -> None:
    done = CliRunner().invoke(app, [*arguments, "--course", str(tmp_path)])
    assert done.exit_code == 1
    assert done.stderr == (
        "lab: lab report shows one lab, or with --term all of them: name a lab or give --term\n"
    )
