"""Marks without nbgrader: the same as through it, and one sentence if they cannot be read."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from gradekit.errors import GradebookError
from gradekit.gradebook.address import Address, rows_in
from gradekit.gradebook.gradebook import Book
from gradekit.gradebook.reading import hand_ins_to_mark, marks_now, read_marks
from gradekit.late import Lateness
from gradekit.submissions.released import Released
from tests.helpers.gradebook import ENTRY, give_manual_mark
from tests.helpers.submissions import LAB, NAME


def test_the_same_marks_and_comments_as_through_nbgrader(book: Book, address: Address) -> None:
    book.write(ENTRY)
    book.write(replace(ENTRY, student="bob", late_percent=10))
    give_manual_mark(address, "ada", "explain", 3.0, extra=0.5)
    found = read_marks(address, LAB)
    assert found == book.marks(LAB)
    assert found["ada"].points == 8 + 1.5 + 3.5
    assert found["ada"].comments == {"explain": "Well put."}
    assert found["bob"].penalty == 0.95
    assert read_marks(address, "lab02") == {}


@pytest.mark.parametrize("column", ["auto_score", "manual_score", "extra_credit"])
def test_points_that_are_no_finite_number_are_one_sentence(
    book: Book, address: Address, column: str
) -> None:
    """As another program may write them; every sum of them would be infinite, too."""
    book.write(ENTRY)
    with Gradebook(address.url) as gradebook:
        grade = gradebook.find_grade("explain", NAME, LAB, "ada")
        setattr(grade, column, float("inf"))
        gradebook.db.commit()
    by_hand = "manual " * (column != "auto_score")
    sentence = rf"'inf' as {by_hand}points of ada for the cell explain of {LAB}; "
    sentence += "another program" if by_hand else f"`lab grade {LAB}` writes them again"
    with pytest.raises(GradebookError, match=sentence):
        read_marks(address, LAB)
    with pytest.raises(GradebookError, match=sentence):
        book.marks(LAB)
    assert bool(rows_in(address)) is bool(by_hand), "the grader's points are written again"
    give_manual_mark(address, "ada", "explain", 3.0)
    book.write(ENTRY)
    assert read_marks(address, LAB)["ada"].points == 8 + 1.5 + 3
    assert rows_in(address)


def test_the_penalty_is_that_of_todays_dates(
    book: Book, address: Address, released: Released
) -> None:
    book.write(replace(ENTRY, late_percent=10))
    late = {"ada": Lateness(seconds=1, days=2, percent=20)}
    assert marks_now(address, LAB, late, released)["ada"].penalty == 1.9
    assert marks_now(address, LAB, {}, released)["ada"].penalty == 0.95
    assert read_marks(address, LAB)["ada"].penalty == 0.95, "nothing is written"


def test_who_waits_for_a_mark(book: Book, address: Address) -> None:
    assert hand_ins_to_mark(address) == {}
    for student in ("ada", "bob", "cyd"):
        book.write(replace(ENTRY, student=student))
    failed = replace(ENTRY, student="eve", scores={"softmax": None}, answers={"explain": ""})
    book.write(failed)
    assert hand_ins_to_mark(address) == {LAB: 3}, "eve's waits for the grader alone"
    give_manual_mark(address, "ada", "explain", 3.0)
    give_manual_mark(address, "bob", "explain", 3.0)
    give_manual_mark(address, "bob", "check_softmax", 7.0)
    assert hand_ins_to_mark(address) == {LAB: 1}
    book.write(replace(ENTRY, student="bob", scores={"softmax": 2.0, "entropy": 1.5}))
    assert hand_ins_to_mark(address) == {LAB: 2}, "bob's mark was for another result"


def test_without_a_gradebook_there_are_no_marks(tmp_path: Path) -> None:
    nowhere = Address(f"sqlite:///{tmp_path / 'gradebook.db'}", "course")
    assert read_marks(nowhere, LAB) == hand_ins_to_mark(nowhere) == {}
    assert not (tmp_path / "gradebook.db").exists()


def test_a_damaged_gradebook_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "gradebook.db"
    path.write_bytes(b"no database" * 100)
    with pytest.raises(GradebookError, match=r"cannot be read .* restore it from a backup"):
        read_marks(Address(f"sqlite:///{path}", "course"), LAB)


def test_nbgrader_is_not_imported() -> None:
    code = "import sys, gradekit.gradebook.reading; sys.exit('nbgrader' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
