"""Extensions: who has until when. Reads no file and no clock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

from gradekit.course.dates import in_zone, short_date
from gradekit.course.tables import CourseFile, Extension, LabTable
from gradekit.errors import CourseError, RosterError
from gradekit.roster.students import FILE_NAME as ROSTER
from gradekit.roster.students import Roster


@dataclass(frozen=True)
class Extensions:
    """Everyone's own due dates.

    Attributes:
        due: by lab, and then by student.
        unknown: a sentence for each student and section that students.csv does not have. They are
            reported when a due date is asked for, because the verb that corrects students.csv asks
            for none.
    """

    # No part of the hash, because a course is a key of caches and a mapping has none.
    due: Mapping[str, Mapping[str, datetime]] = field(default_factory=dict, hash=False)
    unknown: tuple[str, ...] = ()

    def of(self, lab: str) -> Mapping[str, datetime]:
        """The own due dates of students in `lab`.

        Raises:
            CourseError: an extension is for somebody who is not in the course.
        """
        if self.unknown:
            raise CourseError(self.unknown[0])
        return self.due.get(lab, {})


@dataclass(frozen=True)
class _Given:
    """One student's or one section's extension in one lab.

    Attributes:
        place: where course.toml gives it.
        whom: the student or the section, for messages.
    """

    place: str
    whom: str
    lab: str
    students: tuple[str, ...]
    due: datetime


def with_zone(lab: LabTable, zone: tzinfo) -> LabTable:
    """The lab with its dates in the course's time zone."""
    moved = {"release": in_zone(lab.release, zone), "due": in_zone(lab.due, zone)}
    return lab.model_copy(update=moved)


def resolve(values: CourseFile, roster: Roster, places: Sequence[str]) -> Extensions:
    """The due dates that the course's extensions give.

    A student whose section has an extension may have another one; the later of both counts.

    Args:
        roster: the course's students; if it is empty, every student is accepted.
        places: where each extension stands, such as ``course.toml, line 40``.

    Raises:
        CourseError: an extension is for a lab that does not exist, is given twice, or ends before
            the lab is due.
    """
    zone = ZoneInfo(values.course.timezone)
    labs = {lab.id: with_zone(lab, zone) for lab in values.lab}
    unknown: list[str] = []
    seen: dict[tuple[str, str], _Given] = {}
    due: dict[str, dict[str, datetime]] = {}
    for extension, place in zip(values.extension, places, strict=True):
        for whom, students in _people(extension, roster, place, unknown):
            for lab in extension.names_of_labs(tuple(labs)):
                table = _table(labs, lab, place)
                given = _Given(place, whom, lab, students, _until(extension, table, zone))
                _refuse(given, table, seen.setdefault((whom, lab), given))
                own = due.setdefault(lab, {})
                for student in students:
                    own[student] = max(given.due, own.get(student, given.due))
    return Extensions(due, tuple(unknown))


def _people(
    extension: Extension, roster: Roster, place: str, unknown: list[str]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Whom an extension is for, each with the students' ids; adds to `unknown` who is not there."""
    try:
        if extension.section is not None:
            if not len(roster):
                raise RosterError(f"a section needs {ROSTER}, and there is none; name the students")
            members = tuple(student.id for student in roster.in_section(extension.section))
            yield f"section {extension.section}", members
        for student in extension.names:
            if len(roster):
                roster.student(student)
            yield student, (student,)
    except RosterError as error:
        unknown.append(f"{place}: {error}")


def _table(labs: Mapping[str, LabTable], lab: str, place: str) -> LabTable:
    if lab not in labs:
        raise CourseError(
            f"{place}: an extension names lab {lab}, which has no [[lab]] table; write one of "
            f"{', '.join(labs)}"
        )
    return labs[lab]


def _until(extension: Extension, lab: LabTable, zone: tzinfo) -> datetime:
    if extension.due is not None:
        return in_zone(extension.due, zone)
    return lab.due + timedelta(days=extension.days or 0)


def _refuse(given: _Given, table: LabTable, first: _Given) -> None:
    if first is not given:
        raise CourseError(
            f"{given.place}: {given.whom} has an extension for {given.lab} already "
            f"({first.place}); keep one of the two"
        )
    if given.due <= table.due:
        raise CourseError(
            f"{given.place}: the extension of {given.whom} for {given.lab} ends on "
            f"{short_date(given.due)}, and the lab is due on {short_date(table.due)}; write a "
            "later date, or days = 2"
        )
