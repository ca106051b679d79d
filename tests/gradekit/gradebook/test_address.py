"""Which gradebook a course has, how it is shown, and which rows it holds."""

from __future__ import annotations

from pathlib import Path

from gradekit.course import Course
from gradekit.gradebook.address import Address, address_of, rows_in
from tests.helpers.gradebook import ENTRY


def test_no_message_or_record_contains_a_password() -> None:
    url = "postgresql+psycopg://ta:sec@ret@db:5432/grades"
    address = Address(f"{url}?password=secret&sslmode=require", "course")
    shown = "postgresql+psycopg://ta:***@db:5432/grades?password=***&sslmode=require"
    assert address.shown == shown
    assert ENTRY.stored(address, "row").book == shown
    plain = Address("sqlite:////courses/a b/gradebook.db", "course")
    assert plain.shown == plain.url


def test_a_missing_gradebook_holds_nothing(tmp_path: Path) -> None:
    assert rows_in(Address(f"sqlite:///{tmp_path / 'none.db'}", "course")) == frozenset()
    (tmp_path / "junk.db").write_text("this is not a database, but it is longer than its header")
    assert rows_in(Address(f"sqlite:///{tmp_path / 'junk.db'}", "course")) == frozenset()


def test_the_address_is_the_one_that_nbgrader_uses(course: Course) -> None:
    default = f"sqlite:///{course.root / 'gradebook.db'}"
    assert address_of(course) == Address(default, "default_course")
    (course.root / "nbgrader_config.py").write_text(
        "c = get_config()\nc.CourseDirectory.course_id = 'tfs'\n"
        "c.CourseDirectory.db_url = 'postgresql://db/grades'\n"
    )
    assert address_of(course) == Address("postgresql://db/grades", "tfs")
