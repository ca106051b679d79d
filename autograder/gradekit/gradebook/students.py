"""nbgrader's own table of students, as students.csv says.

Tested in tests/gradekit/gradebook/test_students.py.
"""

from __future__ import annotations

from typing import Any

from nbgrader import api
from sqlalchemy import insert, select, update

from gradekit.roster.students import Roster, Student


def write_students(db: Any, roster: Roster) -> None:
    """Add students who are missing in nbgrader's table, and correct those who differ."""
    table = api.Student
    columns = (table.id, table.first_name, table.last_name, table.email, table.lms_user_id)
    known = {row[0]: tuple(row) for row in db.execute(select(*columns))}
    rows = {student.id: _row(student) for student in roster}
    new = [row for key, row in rows.items() if key not in known]
    other = [row for key, row in rows.items() if key in known and tuple(row.values()) != known[key]]
    if new:
        db.execute(insert(table), new)
    if other:
        db.execute(update(table), other)


def _row(student: Student) -> dict[str, str | None]:
    """The last word of a name counts as the last name."""
    first, _, last = student.name.rpartition(" ")
    return {
        "id": student.id,
        "first_name": first or None,
        "last_name": last,
        "email": student.email or None,
        "lms_user_id": student.canvas_id or student.sis_id or None,
    }
