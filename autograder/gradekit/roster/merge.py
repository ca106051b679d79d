"""A course system's list of people into the roster: nothing that was known is lost.

An id and a name never change. What was empty is filled; a section, an address or a number of the
new list replaces the old one. Tested in tests/gradekit/roster/test_merge.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from gradekit.errors import RosterError
from gradekit.roster.csv_table import Row, Table
from gradekit.roster.lists import ListColumns, columns_of
from gradekit.roster.people import Directory, Person, Unknown, squeezed
from gradekit.roster.students import UNIQUE, Roster, Student, safe_id

# The role as Moodle's language packs call it (moodle: defaultcoursestudent), and Gradescope.
_STUDENT = (
    "student", "teilnehmer", "teilnehmer/in", "étudiant", "estudiante", "estudiant", "studente",
    "leerling", "aluno", "cursant", "студент", "",
)  # fmt: skip
_COPIED = ("email", "canvas_id", "sis_id", "github", "section")
_TEST_STUDENT = "Test Student"


@dataclass(frozen=True)
class StudentChange:
    """One value of one student that the list changed."""

    student: str
    field: str
    before: str
    after: str


@dataclass(frozen=True)
class LeftOut:
    """A row of the list that is not a student of the course, and why."""

    line: int
    shown: str
    reason: str


@dataclass(frozen=True)
class Merged:
    """The result of an import.

    Attributes:
        kind: of the list.
        columns: by field, the list's column that says it.
        roster: the new one.
        added: students who were not in it.
        changes: values that were filled or replaced.
        left_out: rows that are not students.
        not_listed: students of the roster who are not in the list; they stay.
    """

    kind: str
    columns: Mapping[str, str]
    roster: Roster
    added: tuple[Student, ...]
    changes: tuple[StudentChange, ...]
    left_out: tuple[LeftOut, ...]
    not_listed: tuple[Student, ...]


def merge(roster: Roster, table: Table) -> Merged:
    """Bring a list into the roster.

    Raises:
        RosterError: the list is of no known kind, or two students would share an address or a
            number.
    """
    columns = columns_of(table)
    work = _Merging(roster, table.name, columns)
    rows = [(row, columns.fields(row)) for row in table.rows]
    names = Counter(squeezed(fields.get("name", "")) for _, fields in rows)
    for row, fields in rows:
        work.add(row, fields, names[squeezed(fields.get("name", ""))] == 1)
    return work.result()


class _Merging:
    def __init__(self, roster: Roster, name: str, columns: ListColumns) -> None:
        self._before, self._name, self._columns = roster, name, columns
        self._directory = Directory(roster)
        self._after = {student.id: student for student in roster}
        self._lines: dict[str, int] = {}  # of the list, by student
        self._added: list[str] = []
        self._changes: list[StudentChange] = []
        self._left_out: list[LeftOut] = []

    def add(self, row: Row, fields: Mapping[str, str], only_one: bool) -> None:
        """Bring one row in.

        Args:
            only_one: no other row of the list has the same name.
        """
        shown = fields.get("name") or fields.get("email") or fields.get("login") or ""
        if reason := self._why_not(fields):
            if reason != "empty":
                self._left_out.append(LeftOut(row.line, shown, reason))
            return
        found = self._directory.find(_person(fields, shown, only_one))
        if isinstance(found, Unknown):
            if not found.is_new:
                self._left_out.append(LeftOut(row.line, shown, found.reason))
                return
            found = Student(self._new_id(fields), fields.get("name") or shown)
            self._added.append(found.id)
        if found.id in self._lines:
            reason = f"it is {found.id}, as line {self._lines[found.id]} is"
            self._left_out.append(LeftOut(row.line, shown, reason))
            return
        self._lines[found.id] = row.line
        self._after[found.id] = self._with(found, fields)

    def _why_not(self, fields: Mapping[str, str]) -> str:
        """Why a row is not a student; "empty" for the rows above Canvas's students."""
        name = fields.get("name", "")
        if "canvas_id" in self._columns.columns and not fields["canvas_id"]:
            return "empty"
        if name == _TEST_STUDENT:
            return "Canvas's test student"
        if not any(fields.get(key) for key in ("name", "email", "login", "id", "sis_id")):
            return "there is neither a name nor a number"
        roles = {role.strip().casefold() for role in fields.get("role", "").split(",")}
        return "" if roles & set(_STUDENT) else f"the role is {fields['role']}"

    def _new_id(self, fields: Mapping[str, str]) -> str:
        """The id of a new student: a login if the list has one, else made from the address."""
        login, email = fields.get("login", ""), fields.get("email", "")
        taken = {known.casefold() for known in self._after}
        wanted = (
            fields.get("id", ""),
            login.partition("@")[0],
            email.partition("@")[0],
            login,
            email,
            fields.get("sis_id", ""),
            fields.get("name", ""),
        )
        made = [safe_id(text) for text in wanted if safe_id(text)]
        numbered = (f"{made[0]}_{number}" for number in range(2, len(taken) + 3))
        return next(text for text in (*made, *numbered) if text.casefold() not in taken)

    def _with(self, student: Student, fields: Mapping[str, str]) -> Student:
        """The student with the list's values, and a note of each that was not new with them."""
        values = {field: fields[field] for field in _COPIED if fields.get(field)}
        if fields.get("moodle_name"):
            values["moodle_name"] = fields["moodle_name"]
        elif self._is_moodle and not _same_name(student.name, fields.get("name", "")):
            values["moodle_name"] = fields["name"]
        if student.id not in self._added:
            self._changes += [
                StudentChange(student.id, field, before, after)
                for field, after in values.items()
                if (before := getattr(student, field)) != after
            ]
        return replace(student, **values)

    @property
    def _is_moodle(self) -> bool:
        return self._columns.format.name.startswith("Moodle")

    def result(self) -> Merged:
        """What has become of everyone."""
        self._check_unique()
        return Merged(
            self._columns.format.name,
            self._columns.columns,
            Roster(tuple(self._after.values())),
            tuple(self._after[student] for student in self._added),
            tuple(self._changes),
            tuple(self._left_out),
            tuple(student for student in self._before if student.id not in self._lines),
        )

    def _check_unique(self) -> None:
        for field in UNIQUE:
            owner: dict[str, str] = {}
            for student in self._after.values():
                value = getattr(student, field).casefold()
                first = owner.setdefault(value, student.id) if value else student.id
                if first != student.id:
                    line = self._lines.get(student.id) or self._lines[first]
                    raise RosterError(
                        f"{self._name}, line {line}: {first} and {student.id} would share the "
                        f"{field} {value!r}; correct one of them, and import again"
                    )


def _person(fields: Mapping[str, str], shown: str, only_one: bool) -> Person:
    login = fields.get("login", "")
    logins = (fields.get("id", ""), login, login.partition("@")[0])
    return Person(
        shown,
        logins=tuple(text for text in logins if text),
        names=(fields["name"],) if only_one and fields.get("name") else (),
        canvas_id=fields.get("canvas_id", ""),
        sis_id=fields.get("sis_id", ""),
        email=fields.get("email", ""),
        github=fields.get("github", ""),
    )


def _same_name(name: str, other: str) -> bool:
    """Whether people would recognise one name in the other, so it need not be written down."""
    lone = Directory(Roster((Student("x", name),)))
    return not other or not isinstance(lone.find(Person(other, names=(other,))), Unknown)


def lines_of(merged: Merged, name: str) -> Iterable[str]:
    """An import in lines for people: what was mapped, then who changed."""
    yield f"{name}: {merged.kind}"
    by_column: dict[str, list[str]] = {}
    for field, column in merged.columns.items():
        by_column.setdefault(column, []).append(_SHOWN_FIELDS.get(field, field))
    for column, shown in by_column.items():
        yield f"  {column} -> {', '.join(shown)}"
    changed = {change.student for change in merged.changes}
    yield f"added {len(merged.added)}, changed {len(changed)}, left out {len(merged.left_out)}"
    if merged.not_listed:
        yield f"not in this list, and kept: {len(merged.not_listed)}"
    yield from (f"added {student.id}: {student.name}" for student in merged.added)
    for change in merged.changes:
        before = f"{change.before} is now " if change.before else ""
        yield f"{change.student}: {change.field} {before}{change.after}"
    yield from (f"left out line {one.line}, {one.shown}: {one.reason}" for one in merged.left_out)


_SHOWN_FIELDS = {
    "last_first": "name",
    "first": "name",
    "last": "name",
    "login": "id of new students",
}
