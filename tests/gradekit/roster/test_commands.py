"""`lab roster` and `lab roster import`, from the command to nbgrader's table of students."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gradekit.cli import app
from gradekit.errors import RosterError

COURSE = '[course]\nname = "A"\n[[lab]]\nid = "lab01"\ntitle = "One"\n' + (
    "release = 2026-09-14T08:00:00\ndue = 2026-09-20T23:59:00\n"
)
CANVAS = 'Student,ID,SIS Login ID,Section\n"Lovelace, Ada",1001,ada,Mon\n"Li, Jo",1002,jo,Tue\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "course.toml").write_text(COURSE)
    (tmp_path / "canvas.csv").write_text(CANVAS)
    return tmp_path


def lab(root: Path, *arguments: str) -> str:
    done = CliRunner().invoke(app, [*arguments, "--course", str(root)], catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def test_a_list_becomes_the_roster_and_nbgraders_students(root: Path) -> None:
    assert "nothing was written" in lab(
        root, "roster", "import", str(root / "canvas.csv"), "--dry-run"
    )
    assert not (root / "students.csv").exists()
    told = lab(root, "roster", "import", str(root / "canvas.csv"))
    assert "added 2, changed 0, left out 0" in told
    assert "students.csv lists 2 students" in told
    with closing(sqlite3.connect(root / "gradebook.db")) as book:
        query = "SELECT id, first_name, last_name, lms_user_id FROM student ORDER BY id"
        assert list(book.execute(query)) == [
            ("ada", "Ada", "Lovelace", "1001"),
            ("jo", "Jo", "Li", "1002"),
        ]
    shown = lab(root, "roster")
    assert "Ada Lovelace" in shown
    assert "2 students; sections: Mon 1, Tue 1" in shown
    assert [student["id"] for student in json.loads(lab(root, "roster", "--json"))] == ["ada", "jo"]


def test_what_was_written_before_stays_if_a_list_cannot_be_read(root: Path) -> None:
    (root / "students.csv").write_text("id,name\nada,Ada\n")
    (root / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(RosterError):
        lab(root, "roster", "import", str(root / "other.csv"))
    assert (root / "students.csv").read_text() == "id,name\nada,Ada\n"


def test_without_a_roster_the_command_says_how_to_make_one(root: Path) -> None:
    assert "lab roster import FILE" in lab(root, "roster")
