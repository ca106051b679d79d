"""Which labs are in the table by when, and who is in it."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gradekit.course import Course, load_course
from gradekit.errors import CourseError, ExportError
from gradekit.term.result import Counting
from gradekit.term.term import term_table
from tests.helpers.recorded import Points, record_lab
from tests.helpers.submissions import hand_in

COURSE = """\
[course]
name = "A course"

[late]
last_day = 2

[[lab]]
id = "gate"
title = "Gate"
weight = 0
release = 2026-09-01
due = 2026-09-04

[[lab]]
id = "lab01"
title = "One"
release = 2026-09-14
due = 2026-09-20

[[lab]]
id = "lab02"
title = "Two"
release = 2026-09-21
due = 2026-09-27

[[extension]]
student = "bob"
lab = "lab01"
days = 7
"""
OPEN, AFTER = datetime(2026, 9, 24, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ada has results for lab 1, bob and cyd have none; zed, who is not listed, has too."""
    root = tmp_path_factory.mktemp("term") / "course"
    root.mkdir()
    (root / "course.toml").write_text(COURSE)
    (root / "students.csv").write_text("id,name\nada,Ada L\nbob,Bob R\ncyd,Cyd C\n")
    for student in ("ada", "zed"):
        hand_in(root, student, b"{}", "2026-09-19T10:00:00+00:00")
    record_lab(load_course(root), "lab01", {"ada": Points(8, 0), "zed": Points(8, 4)})
    return root


@pytest.fixture
def course(recorded: Path, tmp_path: Path) -> Course:
    return load_course(Path(shutil.copytree(recorded, tmp_path / "course")))


def counted(course: Course, now: datetime, **how: bool) -> dict[str, str]:
    return {row.student.id: str(row.labs[0].counts) for row in term_table(course, now, **how).rows}


def test_a_missing_lab_counts_when_it_can_be_handed_in_no_more(course: Course):
    assert counted(course, OPEN) == {"ada": "yes", "bob": "not yet", "cyd": "yes", "zed": "yes"}
    table = term_table(course, OPEN)
    assert {row.student.id: row.total for row in table.rows} == {
        "ada": 50.0, "bob": None, "cyd": 0.0, "zed": 75.0,
    }  # fmt: skip
    assert table.notes == (
        "lab02 has no results and is open until Tue 29 Sep 2026, 23:59; it does not count yet.",
        "lab01: bob can still hand in (until Tue 29 Sep 2026, 23:59); the lab does not count for "
        "this student yet.",
        "4 of 4 results are not final.",
    )


def test_after_the_term_everything_counts(course: Course):
    assert set(counted(course, AFTER, partial=True).values()) == {str(Counting.YES)}


def test_a_closed_lab_without_results_is_refused(course: Course):
    with pytest.raises(CourseError) as refused:
        term_table(course, AFTER)
    assert str(refused.value) == (
        "lab02 has closed and has no results; `lab grade lab02` makes them, weight = 0 in "
        "course.toml leaves it out, and --partial shows the other labs"
    )


def test_parts_that_wait_for_a_mark_are_refused(course: Course):
    record_lab(course, "lab01", {"ada": Points(8, 0, None)})
    with pytest.raises(ExportError, match="lab01 is not final: of 4 students, 1 in need of manual"):
        term_table(course, OPEN)
    table = term_table(course, OPEN, partial=True)
    assert not table.rows[0].is_final
    assert "lab02 has no results and is open until" in table.notes[0]


def test_results_are_final_when_every_lab_has_them(course: Course):
    text = (course.root / "course.toml").read_text()
    (course.root / "course.toml").write_text(
        text.replace('title = "Two"', 'title = "Two"\nweight = 0')
    )
    rows = {row.student.id: row.is_final for row in term_table(load_course(course.root), OPEN).rows}
    assert rows == {"ada": True, "bob": False, "cyd": True, "zed": True}  # bob has an extension


def test_nothing_is_graded_yet(course: Course):
    shutil.rmtree(course.root / "results")
    with pytest.raises(CourseError, match="no lab has results yet; `lab grade LAB` makes them"):
        term_table(course, AFTER)


def test_somebody_outside_the_list_who_skipped_a_lab_is_missing_there(course: Course):
    for student in ("ada", "yan"):
        folder = course.root / "submitted" / student / "lab02"
        folder.mkdir(parents=True)
        (folder / "x.ipynb").write_bytes(b"{}")
    record_lab(course, "lab02", {"ada": Points(), "yan": Points()})
    rows = {row.student.id: row for row in term_table(course, AFTER).rows}
    assert list(rows) == ["ada", "bob", "cyd", "yan", "zed"]
    assert rows["yan"].missing == ("lab01",)
    assert rows["zed"].missing == ("lab02",)
    assert rows["zed"].labs[1].score.of == 16
