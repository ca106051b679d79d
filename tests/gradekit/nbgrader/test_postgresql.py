"""nbgrader's commands with the gradebook on PostgreSQL, and the way there from SQLite."""

from __future__ import annotations

import csv
import subprocess
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from gradekit.course import load_course
from gradekit.errors import GradebookError
from gradekit.gradebook.address import Address, address_of
from gradekit.gradebook.gradebook import Book
from gradekit.gradebook.move import move
from gradekit.grading import grade
from gradekit.grading.grade import Settings
from gradekit.grading.view import progress_bar
from tests.helpers import tiny_class
from tests.helpers.nbgrader_commands import nbgrader
from tests.helpers.postgresql import Server, server
from tests.helpers.tiny_class import LAB, NAME

__all__ = ["server"]


def lab_grade(root: Path) -> int:
    with progress_bar(quiet=True) as progress:
        return grade.grade_lab(load_course(root), LAB, Settings(1), progress).graded


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class that `lab grade` graded into SQLite, with a manual mark and comment."""
    root = tmp_path_factory.mktemp("moving") / "course"
    root.mkdir()
    tiny_class.write_course(root)
    tiny_class.write_class(root)
    assert lab_grade(root) == 4
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        mark = book.find_grade("explain", NAME, LAB, "ada")
        mark.manual_score, mark.needs_manual_grade = 3, False
        book.find_comment("explain", NAME, LAB, "ada").manual_comment = "Well put."
        book.db.commit()
    return root


@pytest.mark.slow
def test_from_sqlite_to_a_server_and_on(course: Path, server: Server) -> None:
    old = address_of(load_course(course))
    with Book(old) as book:
        before = book.marks(LAB)
    with (course / "nbgrader_config.py").open("a") as file:
        file.write(f"\nc.CourseDirectory.db_url = {server.new_database()!r}\n")
    new = address_of(load_course(course))
    line = [tiny_class.sys.executable, "-m", "gradekit.gradebook.move", old.url]
    moved = subprocess.run(line, cwd=course, capture_output=True, text=True, check=False)
    assert moved.returncode == 0, moved.stderr
    assert moved.stdout == f"4 hand-ins are in {new.shown} now\n"
    assert "secret" not in moved.stdout
    with Book(new) as book:
        assert book.marks(LAB) == before
    assert lab_grade(course) == 0, "the journal knows it all"

    tiny_class.hand_in(course, "bob", tiny_class.notebook(course))
    nbgrader(course, "autograde", LAB)
    assert lab_grade(course) == 0
    with Book(new) as book:
        after = book.marks(LAB)
    assert after["bob"].marks["check_softmax"].auto == 5
    assert {name: given for name, given in after.items() if name != "bob"} == {
        name: given for name, given in before.items() if name != "bob"
    }
    assert after["ada"].comments == {"explain": "Well put."}
    nbgrader(course, "export", "--to", "grades.csv")
    with (course / "grades.csv").open(newline="") as rows:
        scores = {row["student_id"]: float(row["score"]) for row in csv.DictReader(rows)}
    assert scores == {name: given.score for name, given in after.items()}


def test_it_is_moved_only_to_an_empty_gradebook_and_from_another_one(
    course: Path, server: Server
) -> None:
    old = Address(f"sqlite:///{course / 'gradebook.db'}", "attention-labs")
    with pytest.raises(GradebookError, match="is the course's gradebook itself"):
        move(old, old)
    gone = Address(f"sqlite:///{course / 'no.db'}", "attention-labs")
    new = Address(server.new_database(), "attention-labs")
    with pytest.raises(GradebookError, match="is not there"):
        move(gone, new)
    assert move(old, new) == 4
    with pytest.raises(GradebookError, match="is not empty"):
        move(old, new)
