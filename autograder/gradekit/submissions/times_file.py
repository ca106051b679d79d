"""``lab collect --times FILE``: when each student handed in, and who is behind Moodle's numbers.

Moodle's grading worksheet (mod/assign/feedback/offline), Gradescope's submission_metadata.yml or
its scores, GitHub Classroom's grades of an assignment, or a table of your own with two columns,
such as ``id,when``. Tested in tests/gradekit/submissions/test_times_file.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from pathlib import Path

from gradekit.errors import CollectError, RefusedError
from gradekit.roster.csv_table import Table, read_table
from gradekit.roster.lists import mapped
from gradekit.roster.moodle_words import LANGUAGES, words_of
from gradekit.roster.people import Directory, Person
from gradekit.roster.students import Student, safe_id
from gradekit.submissions.archives import read_file
from gradekit.submissions.layouts import gradescope
from gradekit.submissions.layouts.listing import Entry
from gradekit.submissions.layouts.moodle import SYSTEM as MOODLE
from gradekit.submissions.times import HandInTime, TimeSource
from gradekit.submissions.written_dates import read_date

_WHEN = ("submission time", "submission_timestamp", "submitted at", "handed in at", "when", "time")
# Who a row is about, in tables of several systems and of one's own.
WHO = {
    "name": ("full name", "name"),
    "first": ("first name",),
    "last": ("last name",),
    "email": ("email address", "email"),
    "sis_id": ("sid", "sis user id", "id number", "user_id"),
    "canvas_id": ("canvas_id", "canvas_user_id"),
    "github": ("github_username",),
    "login": ("id", "student", "login", "username", "login_id", "roster_identifier"),
}
_NOTHING = ("", "-", "–")


@dataclass
class TimesFile:
    """Times by student and, from Moodle, by the assignment's number.

    Attributes:
        people: by Moodle's number, who it is.
        strangers: whom the file names and students.csv does not have.
    """

    people: dict[str, Person] = field(default_factory=dict)
    strangers: list[str] = field(default_factory=list)
    _by_number: dict[str, datetime] = field(default_factory=dict)
    _by_student: dict[str, datetime] = field(default_factory=dict)

    def person(self, entry: Entry) -> Person | None:
        """Who a path's number belongs to, if this file has it."""
        return self.people.get(entry.key) if entry.system == MOODLE else None

    def time(self, student: str, system: str, key: str) -> HandInTime | None:
        """When a student handed in; None if the file does not say."""
        when = self._by_number.get(key) if system == MOODLE else None
        when = when or self._by_student.get(student)
        return HandInTime(when, TimeSource.TIMES_FILE) if when else None

    def add(self, person: Person, when: datetime | None, number: str, student: str) -> None:
        """Keep one line of the file."""
        if number and (person.email or any(person.names)):
            self.people[number] = person
        if when and number:
            self._by_number[number] = when
        if when and student:
            self._by_student[student] = when


def read_times(paths: Iterable[Path], directory: Directory, zone: tzinfo) -> TimesFile:
    """Read files of times; of two times of one student, the one in the later file counts.

    Args:
        zone: of times without one; Moodle writes times in the zone of the person who downloads.

    Raises:
        CollectError: one cannot be read, or a line has a time that cannot be read.
        RosterError: one is not a table.
    """
    times = TimesFile()
    for path in paths:
        _add_file(path, directory, zone, times)
    return times


def _add_file(path: Path, directory: Directory, zone: tzinfo, times: TimesFile) -> None:
    if not path.is_file():
        raise CollectError(f"--times {path}: there is no such file")
    is_yaml = path.suffix.lower() in (".yml", ".yaml")
    for person, when, number in _yaml(path) if is_yaml else _table(path, zone):
        found = directory.find(person)
        if directory.roster and when and not number and not isinstance(found, Student):
            times.strangers.append(person.shown)
        known = found.id if isinstance(found, Student) else safe_id(person.new_id or person.shown)
        times.add(person, when, number, known)


def _yaml(path: Path) -> Iterator[tuple[Person, datetime | None, str]]:
    try:
        listed = gradescope.submissions_in(read_file(path))
    except RefusedError as error:
        raise CollectError(f"--times {path.name}: {error}") from error
    for people, time in listed.values():
        for person in people:
            yield person, time.when, ""


def _table(path: Path, zone: tzinfo) -> Iterator[tuple[Person, datetime | None, str]]:
    table = read_table(path)
    columns = _columns(table)
    if "when" not in columns or len(columns) < 2:
        raise CollectError(
            f"--times {table.name}: the columns {', '.join(table.columns[:6])} do not say who and "
            "when; name them id and when, or download Moodle's grading worksheet in one of these "
            f"languages: {', '.join(LANGUAGES)}"
        )
    yield from _lines(table, columns, zone)


def _columns(table: Table) -> dict[str, str]:
    """By field, the column of a worksheet in any language, or else of another table."""
    there = {name.casefold(): name for name in reversed(table.columns)}
    words = words_of(there)
    found = words.columns(there) if words else {}
    if "submitted" not in found:
        return mapped(there, {"when": _WHEN, **WHO})
    renamed = {"submitted": "when", "identifier": "number"}
    wanted = {*renamed, "name", "email", "sis_id"}
    if "group" in found:  # then the numbers of folders are those of groups, and not of people
        wanted.remove("identifier")
    return {renamed.get(field, field): column for field, column in found.items() if field in wanted}


def _lines(
    table: Table, columns: dict[str, str], zone: tzinfo
) -> Iterator[tuple[Person, datetime | None, str]]:
    for row in table.rows:
        said = {field: row.cells[column] for field, column in columns.items()}
        person = person_in(said)
        number = re.search(r"\d+$", said.get("number", ""))
        text = said["when"]
        when = None if text in _NOTHING else read_date(text, zone)
        if when is None and text not in _NOTHING:
            raise CollectError(
                f"--times {table.name}, line {row.line}: {text!r} is not a time that can be read; "
                "write it like 2026-09-18 10:15"
            )
        yield person, when, number[0] if number else ""


def person_in(said: Mapping[str, str]) -> Person:
    """Who a row is about.

    Args:
        said: the values of its cells by the fields of :data:`WHO`, and Moodle's number.
    """
    name = said.get("name") or f"{said.get('first', '')} {said.get('last', '')}".strip()
    login, email = said.get("login", ""), said.get("email", "")
    return Person(
        name or login or email or said.get("number", ""),
        logins=(login,) if login else (),
        names=(name,) if name else (login,),
        canvas_id=said.get("canvas_id", ""),
        github=said.get("github", ""),
        sis_id=said.get("sis_id", ""),
        email=email,
        new_id=login or name or email,
    )
