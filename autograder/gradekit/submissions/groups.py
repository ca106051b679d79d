"""``lab collect --groups FILE``: who belongs to which group, for hand-ins of several students.

No download names the members of a group: Canvas's has the group's name and the number of one
member, Moodle's the group's name, and ILIAS's the member who handed in. Moodle's grading worksheet,
the list of groups that Canvas exports (name, canvas_user_id, user_id, login_id, group_name), or a
table of one's own with the columns group and id tells the rest.

Tested in tests/gradekit/submissions/test_groups.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from gradekit.errors import CollectError
from gradekit.roster.csv_table import Table, read_table
from gradekit.roster.lists import mapped
from gradekit.roster.moodle_words import words_of
from gradekit.roster.people import Directory, Person, squeezed
from gradekit.roster.students import Student
from gradekit.submissions.times_file import WHO, person_in

_GROUP = ("group", "group_name", "team", "groups")


@dataclass(frozen=True)
class Group:
    """Students who hand in together."""

    name: str
    members: tuple[Student, ...]


@dataclass(frozen=True)
class Groups:
    """All groups of a lab; none without a file.

    Attributes:
        strangers: whom the file names and students.csv does not have.
    """

    groups: tuple[Group, ...] = ()
    strangers: tuple[str, ...] = ()
    _by_student: dict[str, Group] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for group in self.groups:
            self._by_student.update((member.id, group) for member in group.members)

    @cached_property
    def _by_name(self) -> Mapping[str, Group]:
        return {squeezed(group.name): group for group in self.groups}

    def of(self, student: Student) -> Group | None:
        """The group of a student."""
        return self._by_student.get(student.id)

    def named(self, names: Iterable[str]) -> Group | None:
        """The group with one of these names, whatever the signs and capitals in it."""
        return next((g for name in names if (g := self._by_name.get(squeezed(name)))), None)


def read_groups(paths: Iterable[Path], directory: Directory) -> Groups:
    """Read files of groups; a group may have members in several.

    Raises:
        CollectError: one cannot be read, or they name a student twice or two groups alike.
        RosterError: one is not a table.
    """
    members: dict[str, list[Student]] = {}
    strangers: list[str] = []
    seen: dict[str, str] = {}
    alike: dict[str, str] = {}
    for path in paths:
        for person, name in _rows(_table(path)):
            student = directory.find(person)
            if not isinstance(student, Student):
                strangers.append(person.shown)
                continue
            if seen.setdefault(student.id, name) != name:
                raise CollectError(
                    f"--groups {path.name}: {student.id} is in {seen[student.id]!r} and in "
                    f"{name!r}; keep one of the two"
                )
            if (first := alike.setdefault(squeezed(name), name)) != name:
                raise CollectError(
                    f"--groups {path.name}: the names {first!r} and {name!r} differ only in signs "
                    "or capitals, which downloads do not keep; rename one"
                )
            members.setdefault(name, []).append(student)
    groups = tuple(Group(name, tuple(dict.fromkeys(found))) for name, found in members.items())
    return Groups(groups, tuple(strangers))


def _table(path: Path) -> Table:
    if not path.is_file():
        raise CollectError(f"--groups {path}: there is no such file")
    return read_table(path)


def _rows(table: Table) -> list[tuple[Person, str]]:
    """Who is in which group; rows without a group are left out."""
    there = {name.casefold(): name for name in reversed(table.columns)}
    words = words_of(there)
    columns = words.columns(there) if words else mapped(there, {"group": _GROUP, **WHO})
    if "group" not in columns or not set(columns) & {*WHO}:
        raise CollectError(
            f"--groups {table.name}: the columns {', '.join(table.columns[:6])} do not say who is "
            "in which group; name them id and group"
        )
    found = []
    for row in table.rows:
        said = {field: row.cells[column] for field, column in columns.items()}
        name = said["group"].strip()
        if name and not (words and name.casefold() == words.no_group):
            found.append((person_in(said), name))
    return found
