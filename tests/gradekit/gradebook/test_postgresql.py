"""The gradebook on PostgreSQL: a real server, on a socket in a temporary folder, no network."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

import psycopg
import pytest
from nbgrader.api import Gradebook

from gradekit.errors import GradebookError
from gradekit.gradebook.address import Address, rows_in
from gradekit.gradebook.entry import unstored
from gradekit.gradebook.gradebook import Book
from gradekit.gradebook.manual_mark import ManualMark, MarkChangedError, give_mark
from gradekit.gradebook.marks import Mark
from gradekit.gradebook.reading import hand_ins_to_mark, read_marks
from gradekit.submissions.released import Released
from tests.helpers.gradebook import DUE, ENTRY
from tests.helpers.postgresql import Server, server
from tests.helpers.submissions import LAB, NAME

__all__ = ["server"]


@pytest.fixture(scope="module")
def registered(server: Server, released: Released) -> str:
    """A gradebook with the lab registered; nbgrader takes seconds to make one."""
    address = Address(server.new_database(), "course")
    assert rows_in(address) == frozenset(), "an empty database holds nothing"
    assert read_marks(address, LAB) == hand_ins_to_mark(address) == {}
    with Book(address) as book:
        book.register(LAB, released, DUE)
    return "grades1"


@pytest.fixture
def address(server: Server, registered: str) -> Address:
    return Address(server.new_database(registered), "course")


@pytest.fixture
def book(address: Address, released: Released) -> Iterator[Book]:
    with Book(address) as opened:
        opened.register(LAB, released, DUE)
        yield opened


def give_manual_mark(address: Address, student: str) -> None:
    """What formgrader does when a TA gives points."""
    with Gradebook(address.url) as gradebook:
        grade = gradebook.find_grade("explain", NAME, LAB, student)
        grade.manual_score, grade.needs_manual_grade, grade.extra_credit = 3, False, 1
        gradebook.find_comment("explain", NAME, LAB, student).manual_comment = "Well put."
        gradebook.db.commit()


def test_nbgrader_reads_what_was_written(book: Book, address: Address) -> None:
    row = book.write(replace(ENTRY, extension=3600.0))
    assert rows_in(address) == {row}
    with Gradebook(address.url) as gradebook:
        submission = gradebook.find_submission(LAB, "ada")
        assert (submission.id, submission.score, submission.max_score) == (row, 9.5, 16)
        assert submission.needs_manual_grade
        assert submission.timestamp == datetime(2026, 9, 20, 21, 59)
        assert submission.extension.total_seconds() == 3600
        assert gradebook.find_grade("check_entropy", NAME, LAB, "ada").auto_score == 1.5
        assert gradebook.find_assignment(LAB).duedate == datetime(2026, 9, 20, 21, 59)


def test_manual_points_survive_a_regrade(book: Book, address: Address, released: Released) -> None:
    row = book.write(ENTRY)
    give_manual_mark(address, "ada")
    book.register(LAB, released, DUE)
    again = replace(ENTRY, scores={"softmax": 4.0, "entropy": 1.5})
    assert book.write(again, ENTRY.answers) == row
    marks = book.marks(LAB)["ada"]
    assert marks.marks["explain"] == Mark(None, 3, 1, False)
    assert marks.marks["check_softmax"] == Mark(4, None, None, False)
    assert marks.comments == {"explain": "Well put."}
    assert marks.score == 9.5
    assert read_marks(address, LAB) == {"ada": marks}
    assert hand_ins_to_mark(address) == {}
    book.write(replace(again, answers={"explain": "another digest"}), ENTRY.answers)
    assert book.marks(LAB)["ada"].marks["explain"] == Mark(None, 3, 1, True)
    assert hand_ins_to_mark(address) == {LAB: 1}


def test_late_penalties_follow_manual_points(book: Book, address: Address) -> None:
    book.write(replace(ENTRY, late_percent=10.0))
    assert book.marks(LAB)["ada"].penalty == 0.95
    give_manual_mark(address, "ada")
    assert book.renew_penalties(LAB, lambda student, points: round(points / 10, 2)) == 1
    assert book.renew_penalties(LAB, lambda student, points: round(points / 10, 2)) == 0
    assert book.marks(LAB)["ada"].penalty == 1.35


def test_a_failure_of_ours_leaves_no_score(book: Book) -> None:
    book.write(ENTRY)
    book.write(replace(ENTRY, scores={"softmax": None, "entropy": None}, answers=None))
    assert not any(mark.is_known for mark in book.marks(LAB)["ada"].marks.values())


def test_a_failure_leaves_no_partial_write(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    book.write(ENTRY)
    before = book.marks(LAB)
    monkeypatch.setattr(book, "_set_penalty", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        book.write(replace(ENTRY, scores={"softmax": 0.0, "entropy": 0.0}))
    assert book.marks(LAB) == before


def test_only_what_changed_is_stored_again_and_no_password_is_kept(
    book: Book, address: Address
) -> None:
    stored = ENTRY.stored(address, book.write(ENTRY))
    assert unstored([ENTRY], {"ada": stored}, rows_in(address)) == []
    assert unstored([ENTRY], {"ada": stored}, frozenset()) == [ENTRY]
    assert "secret" in address.url
    assert "secret" not in stored.book
    assert stored.book.startswith("postgresql+psycopg://staff:***@/")


def test_two_graders_may_add_the_same_student(book: Book, address: Address) -> None:
    """Two labs are graded at once: neither finds the student, so both add the row."""
    with psycopg.connect(address.url.replace("+psycopg", "")) as other:
        other.execute("INSERT INTO student (id) VALUES ('ada')")
        threading.Timer(0.5, other.commit).start()
        start = time.monotonic()
        book.write(ENTRY)
        assert time.monotonic() - start > 0.3, "it waited for the other's row"
    assert book.marks(LAB)["ada"].points == 9.5


def test_a_server_that_stops_is_one_sentence_and_comes_back(
    server: Server, address: Address, released: Released
) -> None:
    with Book(address) as book:
        book.register(LAB, released, DUE)
        row = book.write(ENTRY)
        server.stop()
        try:
            for access in (lambda: book.marks(LAB), lambda: rows_in(address)):
                with pytest.raises(GradebookError) as said:
                    access()
                assert "graded work is recorded" in str(said.value)
                assert "\n" not in str(said.value)
                assert "secret" not in str(said.value)
            with pytest.raises(GradebookError, match="cannot be opened"), Book(address):
                pass
        finally:
            server.start()
        assert book.write(ENTRY) == row
    assert rows_in(address) == {row}


def test_a_missing_driver_says_how_to_get_it() -> None:
    address = Address("postgresql+pg8000://staff@/grades", "course")
    for access in (lambda: rows_in(address), lambda: Book(address).__enter__()):
        with pytest.raises(GradebookError, match=r"pip install -e '\.\[postgres\]'"):
            access()


def test_a_wrong_url_is_one_sentence() -> None:
    with pytest.raises(GradebookError, match="is not a database URL"):
        rows_in(Address("postgresql+nothing://x", "course"))


def test_of_two_markers_at_once_one_mark_is_kept(book: Book, address: Address) -> None:
    """`lab mark` on two machines: the other TA is told, and nothing is overwritten."""
    book.write(ENTRY)
    told: list[ManualMark] = []
    kept: list[ManualMark] = []
    both = threading.Barrier(2)

    def mark(points: float) -> None:
        mine = ManualMark(points, f"{points:g}", needs_manual_grade=False)
        with Book(address) as own:
            both.wait(60)
            try:
                give_mark(own, LAB, "ada", "explain", ManualMark(), mine)
            except MarkChangedError as error:
                told.append(error.now)
            else:
                kept.append(mine)

    markers = [threading.Thread(target=mark, args=[points]) for points in (1.0, 3.0)]
    for marker in markers:
        marker.start()
    for marker in markers:
        marker.join()
    assert len(kept) == len(told) == 1
    with Gradebook(address.url) as gradebook:
        grade = gradebook.find_grade("explain", NAME, LAB, "ada")
        said = gradebook.find_comment("explain", NAME, LAB, "ada").manual_comment
        assert (grade.manual_score, said) == (kept[0].points, kept[0].comment)
    seen = kept[0]
    give_mark(book, LAB, "ada", "explain", seen, replace(seen, points=2.0, comment=""))
    with pytest.raises(MarkChangedError, match="another TA has marked this answer"):
        give_mark(book, LAB, "ada", "explain", seen, ManualMark())
