"""One student's results in nbgrader's gradebook, and manual marks back."""

from __future__ import annotations

import shutil
import sqlite3
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from gradekit.errors import GradebookError
from gradekit.gradebook.address import Address, rows_in
from gradekit.gradebook.gradebook import NO_RESPONSE, Book
from gradekit.gradebook.marks import Mark
from gradekit.submissions.released import Released
from tests.helpers import submissions
from tests.helpers.cpu_time import takes_less_than
from tests.helpers.gradebook import DUE, ENTRY, give_manual_mark
from tests.helpers.submissions import LAB, NAME


def test_nbgrader_reads_what_was_written(book: Book, address: Address) -> None:
    book.write(ENTRY)
    with Gradebook(address.url) as gradebook:
        submission = gradebook.find_submission(LAB, "ada")
        assert submission.score == 9.5
        assert submission.max_score == 16
        assert submission.needs_manual_grade
        assert submission.timestamp == datetime(2026, 9, 20, 21, 59)
        assert submission.total_seconds_late == 0
        assert gradebook.find_grade("check_entropy", NAME, LAB, "ada").auto_score == 1.5
        assert not gradebook.find_grade("check_entropy", NAME, LAB, "ada").needs_manual_grade
        assert gradebook.find_grade("explain", NAME, LAB, "ada").needs_manual_grade
        assert gradebook.find_assignment(LAB).duedate == datetime(2026, 9, 20, 21, 59)


def test_registering_is_what_generate_assignment_does(
    book: Book, address: Address, released: Released, tmp_path: Path, empty: Path
) -> None:
    from nbgrader.preprocessors import SaveCells

    theirs = f"sqlite:///{shutil.copy(empty, tmp_path / 'theirs.db')}"
    with Gradebook(theirs, "course") as gradebook:
        gradebook.add_assignment(LAB)
    names = {"notebook": NAME, "assignment": LAB, "db_url": theirs}
    SaveCells().preprocess(released.notebook, {"nbgrader": names})

    def cells(url: str) -> dict[str, list[dict[str, object]]]:
        with Gradebook(url) as gradebook:
            notebook = gradebook.find_notebook(NAME, LAB)
            rows = {
                "graded": notebook.grade_cells,
                "solved": notebook.solution_cells,
                "sources": notebook.source_cells,
                "notebook": [notebook],
            }
            return {
                kind: sorted(
                    ({k: v for k, v in cell.to_dict().items() if k != "id"} for cell in found),
                    key=str,
                )
                for kind, found in rows.items()
            }

    assert cells(address.url) == cells(theirs)


def test_writing_again_changes_nothing(book: Book, address: Address) -> None:
    row = book.write(ENTRY)
    before = book.marks(LAB)
    assert book.write(ENTRY) == row
    assert book.marks(LAB) == before
    assert rows_in(address) == {row}


def test_manual_points_survive_a_regrade(book: Book, address: Address) -> None:
    book.write(ENTRY)
    give_manual_mark(address, "ada", "explain", 3, extra=1)
    book.write(replace(ENTRY, scores={"softmax": 4.0, "entropy": 1.5}), ENTRY.answers)
    marks = book.marks(LAB)["ada"]
    assert marks.marks["explain"] == Mark(None, 3, 1, False)
    assert marks.marks["check_softmax"] == Mark(4, None, None, False)
    assert marks.comments == {"explain": "Well put."}
    assert marks.score == 9.5
    assert marks.is_complete


def test_a_changed_answer_is_open_again(book: Book, address: Address) -> None:
    book.write(ENTRY)
    give_manual_mark(address, "ada", "explain", 3)
    book.write(replace(ENTRY, answers={"explain": "another digest"}), ENTRY.answers)
    assert book.marks(LAB)["ada"].marks["explain"] == Mark(None, 3, None, True)


def test_an_empty_answer_earns_nothing_and_is_not_open(book: Book, address: Address) -> None:
    book.write(replace(ENTRY, answers={"explain": ""}))
    marks = book.marks(LAB)["ada"]
    assert marks.marks["explain"] == Mark(0, None, None, False)
    assert marks.is_complete
    with Gradebook(address.url) as gradebook:
        comment = gradebook.find_comment("explain", NAME, LAB, "ada")
        assert comment.comment == NO_RESPONSE


def test_a_failure_of_ours_leaves_no_score_and_no_old_one(book: Book, address: Address) -> None:
    book.write(ENTRY)
    book.write(replace(ENTRY, scores={"softmax": None, "entropy": 4.0}))
    marks = book.marks(LAB)["ada"]
    assert marks.marks["check_softmax"] == Mark(None, None, None, True)
    assert not marks.is_complete
    book.write(replace(ENTRY, scores={"softmax": None, "entropy": None}, answers=None))
    marks = book.marks(LAB)["ada"]
    assert not any(mark.is_known for mark in marks.marks.values())
    with Gradebook(address.url) as gradebook:
        assert gradebook.find_submission(LAB, "ada").needs_manual_grade


def test_a_score_above_the_cells_worth_is_refused(book: Book) -> None:
    with pytest.raises(GradebookError, match=r"softmax earned 9 .* `lab build lab01`"):
        book.write(replace(ENTRY, scores={"softmax": 9.0, "entropy": 0.0}))
    assert book.marks(LAB) == {}


def test_a_failure_leaves_no_partial_write(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    book.write(ENTRY)
    before = book.marks(LAB)
    monkeypatch.setattr(book, "_set_penalty", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        book.write(replace(ENTRY, scores={"softmax": 0.0, "entropy": 0.0}))
    assert book.marks(LAB) == before


def test_the_late_penalty_follows_manual_points(book: Book, address: Address) -> None:
    book.write(replace(ENTRY, late_percent=10.0))
    assert book.marks(LAB)["ada"].penalty == 0.95
    give_manual_mark(address, "ada", "explain", 4)
    assert book.renew_penalties(LAB, lambda student, points: round(points / 10, 2)) == 1
    marks = book.marks(LAB)["ada"]
    assert (marks.points, marks.penalty, marks.score) == (13.5, 1.35, 12.15)
    assert book.renew_penalties(LAB, lambda student, points: round(points / 10, 2)) == 0


def test_an_exercise_that_was_added_gets_its_cells(
    book: Book, released: Released, tmp_path: Path
) -> None:
    book.write(ENTRY)
    cells = submissions.released_cells()
    cells += [
        submissions.code("def third(): ...", **submissions.nbgrader("third", solution=True)),
        submissions.code('check("third")', **submissions.nbgrader("check_third", points=2)),
    ]
    path = tmp_path / f"{NAME}.ipynb"
    path.write_bytes(submissions.as_bytes(cells))
    book.register(LAB, Released.read(path), DUE)
    book.write(replace(ENTRY, scores={**ENTRY.scores, "third": 2.0}))
    assert book.marks(LAB)["ada"].points == 11.5
    with pytest.raises(GradebookError, match="check_third"):
        book.register(LAB, released, DUE)


def test_it_waits_for_another_programs_lock(book: Book, address: Address) -> None:
    path = address.url.removeprefix("sqlite:///")
    with sqlite3.connect(path) as other:
        other.execute("BEGIN IMMEDIATE")
        other.rollback()
    book.write(ENTRY)
    assert book.marks(LAB)["ada"].points == 9.5


def test_a_gradebook_that_cannot_be_opened_is_one_sentence(tmp_path: Path) -> None:
    with (
        pytest.raises(GradebookError, match="cannot be opened"),
        Book(Address(f"sqlite:///{tmp_path}/none/gradebook.db", "course")),
    ):
        pass


def test_a_hundred_submissions_are_written_quickly(book: Book) -> None:
    def write() -> None:
        for number in range(100):
            book.write(replace(ENTRY, student=f"s{number}"))

    assert takes_less_than(3, write)


def test_extensions_reach_nbgrader(book: Book, address: Address) -> None:
    after = datetime(2026, 9, 21, 21, 0)
    book.write(replace(ENTRY, submitted_at=after, extension=2 * 86400.0))
    book.write(replace(ENTRY, student="eve", submitted_at=after))
    with Gradebook(address.url) as gradebook:
        assert gradebook.find_submission(LAB, "ada").total_seconds_late == 0
        assert gradebook.find_submission(LAB, "eve").total_seconds_late == 23 * 3600 + 60
