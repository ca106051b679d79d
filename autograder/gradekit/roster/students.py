"""students.csv: everyone who takes the course. An error names the file, the line and the fix."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path

from gradekit.errors import RosterError
from gradekit.files import write_whole
from gradekit.roster.csv_table import Row, Table, read_table
from gradekit.wording import did_you_mean

FILE_NAME = "students.csv"
MOST_ID_LETTERS = 100
_UNSAFE = re.compile(r"[^\w.@-]+")
# No two students share one of these, because a hand-in is given to the student who has it.
UNIQUE = ("id", "email", "canvas_id", "sis_id", "github")


@dataclass(frozen=True)
class Student:
    """One line of students.csv; a text that is not known is empty.

    Attributes:
        id: the student's folder in ``submitted/``, and the name in the gradebook.
        canvas_id: the number of the user in Canvas.
        sis_id: the number in the university's own system; Gradescope calls it SID.
        moodle_name: the full name as Moodle writes it, if it differs from `name`.
        github: the login there.
        section: the group whose TA marks it.
    """

    id: str
    name: str
    email: str = ""
    canvas_id: str = ""
    sis_id: str = ""
    moodle_name: str = ""
    github: str = ""
    section: str = ""


COLUMNS = tuple(field.name for field in fields(Student))


@dataclass(frozen=True)
class Roster:
    """Everyone who takes the course; empty if there is no students.csv."""

    students: tuple[Student, ...] = ()

    def __iter__(self) -> Iterator[Student]:
        return iter(self.students)

    def __len__(self) -> int:
        return len(self.students)

    def __contains__(self, student: str) -> bool:
        return student in self._by_id

    @cached_property
    def _by_id(self) -> dict[str, Student]:
        return {student.id: student for student in self.students}

    @cached_property
    def sections(self) -> tuple[str, ...]:
        """All sections, in the order of the file."""
        return tuple(dict.fromkeys(s.section for s in self.students if s.section))

    def student(self, student: str) -> Student:
        """The student with this id.

        Raises:
            RosterError: there is none; the message names the closest ones.
        """
        if student not in self._by_id:
            raise RosterError(f"{FILE_NAME} has no student {student!r}{self._hint(student)}")
        return self._by_id[student]

    def in_section(self, section: str) -> tuple[Student, ...]:
        """The students of a section.

        Raises:
            RosterError: no student is in a section of this name.
        """
        found = tuple(student for student in self.students if student.section == section)
        if not found:
            known = ", ".join(self.sections) or "none"
            raise RosterError(f"{FILE_NAME} has no section {section!r}; its sections are: {known}")
        return found

    def _hint(self, student: str) -> str:
        return f"; {did_you_mean(student, self._by_id, 3) or f'add a line to {FILE_NAME}'}"


def safe_id(name: str) -> str:
    """A name as an id, which is a folder's name even in nbgrader; empty if nothing is left."""
    return _UNSAFE.sub("_", name.strip()).strip("._-")[:MOST_ID_LETTERS]


def load_roster(root: Path) -> Roster:
    """Read ``root/students.csv``; no such file is an empty roster.

    Raises:
        RosterError: it cannot be read, or a line is wrong.
    """
    path = root / FILE_NAME
    return roster_of(read_table(path)) if path.exists() else Roster()


def roster_of(table: Table) -> Roster:
    """The students in a table with the columns of students.csv.

    Raises:
        RosterError: a column is unknown or missing, or a line is wrong.
    """
    for name in table.columns:
        if name not in COLUMNS:
            columns = f"the columns are {', '.join(COLUMNS)}"
            fix = did_you_mean(name.lower(), COLUMNS) or columns
            raise RosterError(f"{table.name}, line 1: unknown column {name!r}; {fix}")
    for name in ("id", "name"):
        if name not in table.columns:
            raise RosterError(
                f"{table.name}, line 1: there is no column {name!r}; the heading must name it"
            )
    students = tuple(_student(table, row) for row in table.rows)
    _check_unique(table, students)
    return Roster(students)


def _student(table: Table, row: Row) -> Student:
    student = Student(**{name: unicodedata.normalize("NFC", row.cells[name]) for name in row.cells})
    where = f"{table.name}, line {row.line}"
    if not student.id:
        raise RosterError(f"{where}: the student has no id; write one, such as a login name")
    if safe_id(student.id) != student.id:
        raise RosterError(
            f"{where}: {student.id!r} cannot be an id, because it names a folder; write "
            f"{safe_id(student.id) or 'a login name'!r}, for example"
        )
    if not student.name:
        raise RosterError(f"{where}: {student.id} has no name; write the full name")
    if student.canvas_id and not student.canvas_id.isdecimal():
        raise RosterError(
            f"{where}: canvas_id {student.canvas_id!r} is not a whole number; copy it from the "
            "column ID of Canvas's gradebook"
        )
    for name, value in asdict(student).items():
        if any(unicodedata.category(letter)[0] == "C" for letter in value):
            raise RosterError(f"{where}: {name} contains a control character; type it again")
    return student


def _check_unique(table: Table, students: Sequence[Student]) -> None:
    for name in UNIQUE:
        seen: dict[str, int] = {}
        for row, student in zip(table.rows, students, strict=True):
            value = getattr(student, name)
            first = seen.setdefault(value.casefold(), row.line) if value else row.line
            if first != row.line:
                raise RosterError(
                    f"{table.name}, line {row.line}: {name} {value!r} is already on line {first}; "
                    "no two students may share it"
                )


def write_roster(root: Path, roster: Roster) -> None:
    """Write ``root/students.csv`` with all columns, in the roster's order."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(student) for student in roster)
    write_whole(root / FILE_NAME, text.getvalue())
