"""nbgrader's table of students follows the roster."""

from __future__ import annotations

from gradekit.gradebook.address import Address
from gradekit.gradebook.gradebook import Book
from gradekit.roster.students import Roster, Student
from tests.helpers.gradebook import ENTRY
from tests.helpers.submissions import LAB

ADA = Student("ada", "Ada King Lovelace", "ada@uni.example", "1001", "15-001")


def known(book: Book) -> dict[str, tuple[str | None, ...]]:
    rows = book._gradebook.students
    return {s.id: (s.first_name, s.last_name, s.email, s.lms_user_id) for s in rows}


def test_students_are_added_and_corrected_and_nobody_is_removed(book: Book) -> None:
    book.write(ENTRY)
    before = book.marks(LAB)
    book.enrol(Roster((ADA, Student("jo", "Jo"))))
    assert known(book) == {
        "ada": ("Ada King", "Lovelace", "ada@uni.example", "1001"),
        "jo": (None, "Jo", None, None),
    }
    book.enrol(Roster((Student("jo", "Jo Li", sis_id="15-002"),)))
    assert known(book)["jo"] == ("Jo", "Li", None, "15-002")
    assert "ada" in known(book)
    assert book.marks(LAB) == before


def test_an_empty_roster_changes_nothing(address: Address) -> None:
    with Book(address) as book:
        book.enrol(Roster())
        assert known(book) == {}
