"""One source -> the submissions in it: whose each file is, and what is in zips in it.

Tested in tests/gradekit/submissions/test_collect.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path, PurePosixPath

from gradekit.course import Course
from gradekit.errors import RefusedError
from gradekit.roster.people import Person
from gradekit.roster.students import Student
from gradekit.submissions.archives import (
    FoundFile,
    UnsafeName,
    changed_at,
    folder_items,
    is_zip,
    read_file,
    zip_items,
)
from gradekit.submissions.collected import Refused
from gradekit.submissions.folder import TIMESTAMP, is_notebook, parse_timestamp
from gradekit.submissions.groups import Groups
from gradekit.submissions.incoming import IncomingSubmission
from gradekit.submissions.layouts import folders, reader_of
from gradekit.submissions.layouts.listing import Entry, Listing, Reader, common_top
from gradekit.submissions.notebook_lab import lab_of
from gradekit.submissions.student_of import StudentFinder
from gradekit.submissions.times import HandInTime, TimeSource
from gradekit.submissions.times_file import TimesFile

MOST_REFUSED_IN_ZIPS = 50  # of one hand-in, each with its name and the reason
Items = Callable[[], Iterable[FoundFile | UnsafeName]]


class SourceReader:
    """Reads sources, one after the other.

    Attributes:
        refused: the files and hand-ins that are not taken.
    """

    def __init__(
        self,
        course: Course,
        lab: str,
        finder: StudentFinder,
        times: TimesFile,
        groups: Groups | None = None,
    ) -> None:
        self._course, self._lab = course, lab
        self._finder, self._directory, self._times = finder, finder.directory, times
        self._groups = groups or Groups()
        self.refused: list[Refused] = []

    def read(self, source: Path) -> list[IncomingSubmission]:
        """The submissions in one source; files are read here, one source at a time."""
        try:
            if source.is_dir():
                return self._group(partial(folder_items, source), source.name, source.name, source)
            entries = partial(zip_items, source, self._course.timezone)
            listing = self._listing(entries, source.stem)
            if not self._names_students(listing):
                return self._whole(source, listing)
            return self._group(entries, source.name, source.stem)
        except RefusedError as error:
            self.refused.append(Refused(str(source), str(error)))
        return []

    def _listing(self, items: Items, top: str, folder: Path | None = None) -> Listing:
        paths = tuple(item.path for item in items() if isinstance(item, FoundFile))

        def read(path: PurePosixPath) -> bytes:
            # A zip's files can be read only while its list is gone through.
            for item in items():
                if isinstance(item, FoundFile) and item.path == path:
                    return item.read()
            raise RefusedError(f"{path} is not there")

        return Listing(
            paths,
            self._lab,
            self._course.labs,
            self._course.timezone,
            top,
            self._directory.knows,
            self._directory.knows_canvas_id,
            read,
            folder,
        )

    def _names_students(self, listing: Listing) -> bool:
        """Whether a path in a zip says whose it is; else the whole zip may be one student's.

        If the zip's own name is a student's, that student chose all names in it.
        """
        if self._owner(f"{listing.top}.zip"):
            return False
        reader = reader_of(listing)
        answers = [reader(path) for path in listing.hand_ins or listing.paths]
        return any(answer is not folders.NO_STUDENT for answer in answers) or not listing.paths

    def _owner(self, name: str) -> Student | None:
        """The student of the roster whom the name of a zip names."""
        path = PurePosixPath(name)
        entry = reader_of(self._listing(lambda: [FoundFile(path, None, bytes)], ""))(path)
        people = entry.people if isinstance(entry, Entry) else ()
        found = [self._directory.find(person) for person in people]
        return next((one for one in found if isinstance(one, Student)), None)

    def _whole(self, source: Path, listing: Listing) -> list[IncomingSubmission]:
        """A zip that only its own name can tell the student of."""
        notebooks = sum(is_notebook(path.name) for path in listing.paths)
        if notebooks > 1:
            raise RefusedError(
                f"it holds {notebooks} notebooks, so it may be those of several students; put each "
                "student's files into a folder with the student's name"
            )
        name, read = PurePosixPath(source.name), partial(read_file, source)
        whole = FoundFile(name, changed_at(source), read)
        return self._group(lambda: [whole], source.parent.name, "")

    def _group(
        self, items: Items, origin: str, top: str, folder: Path | None = None
    ) -> list[IncomingSubmission]:
        group = _Group(origin, reader_of(self._listing(items, top, folder)))
        for item in items():
            if isinstance(item, UnsafeName):
                self.refused.append(Refused(f"{origin}/{item.name}", item.why))
                continue
            entry = group.reader(item.path)
            shown = f"{origin}/{item.path}"
            if not isinstance(entry, Entry):
                assert entry is not None
                if not entry.expected:
                    self.refused.append(Refused(shown, entry.reason))
                continue
            for student, team in self._students(entry, group, shown):
                submitted = group.submission(student, entry, team)
                try:
                    self._add(submitted, entry, item, shown)
                except RefusedError as error:
                    self.refused.append(refused_file(submitted, shown, str(error)))
        self._count_unlisted(group.found.values())
        return self._one_person_each(group)

    def _students(self, entry: Entry, group: _Group, shown: str) -> list[tuple[Student, str]]:
        """Whose file it is, each with the name of the group; empty for a student alone.

        A person who is not found is listed once, and not for every file.
        """
        students: dict[str, tuple[Student, str]] = {}
        for person in [known] if (known := self._times.person(entry)) else entry.people:
            try:
                for student, team in self._members(person, entry):
                    students[student.id] = (student, team)
            except RefusedError as error:
                if (entry.home, person.shown) not in group.not_found:
                    group.not_found.add((entry.home, person.shown))
                    self.refused.append(Refused(shown, str(error), person.shown))
        return list(students.values())

    def _members(self, person: Person, entry: Entry) -> list[tuple[Student, str]]:
        """The student, or everyone in the group that a path names. Raises RefusedError."""
        found = self._directory.find(person)
        team = self._groups.of(found) if isinstance(found, Student) else None
        team = team or self._groups.named(person.names)
        if team is not None:
            return [(member, team.name) for member in team.members]
        return [(self._finder.student(person), entry.group)]

    def _one_person_each(self, group: _Group) -> list[IncomingSubmission]:
        """The hand-ins, without those of two people who would be one student."""
        keys: dict[str, set[str]] = {}
        for submitted in group.found.values():
            keys.setdefault(submitted.student, set()).add(submitted.key)
        kept = []
        for submitted in group.found.values():
            if not submitted.is_of_this_lab:
                continue
            if len(keys[submitted.student]) > 1:
                shown = f"{submitted.origin}/{submitted.home}"
                reason = f"{len(keys[submitted.student])} people in this source have this name"
                self.refused.append(Refused(shown, reason, submitted.name))
                continue
            kept.append(submitted)
        return kept

    def _add(
        self, submitted: IncomingSubmission, entry: Entry, item: FoundFile, shown: str
    ) -> None:
        if entry.path.name == TIMESTAMP:
            if entry.by_staff and len(entry.path.parts) == 1:
                text = submitted.read(item)[:200].decode("utf-8", "replace")
                if when := parse_timestamp(text, self._course.timezone):
                    submitted.time = HandInTime(when, TimeSource.TIMESTAMP)
            return
        data = submitted.read(item)
        if not is_zip(entry.path):
            self._take(submitted, str(entry.path), data, entry.version, item, shown)
            return
        self._unpack(submitted, entry, data, item.when, shown)

    def _unpack(
        self,
        submitted: IncomingSubmission,
        entry: Entry,
        data: bytes,
        when: datetime | None,
        shown: str,
        may_be_nested: bool = True,
    ) -> None:
        """Add the files in a zip; those of a zip in it, too, if it has no notebook beside that.

        Raises:
            RefusedError: it cannot be read, or may be the files of several students.
        """
        submitted.count()
        zone = self._course.timezone
        items = zip_items(data, zone, count=submitted.count, of_one_student=True)
        inner = [one.path for one in items if isinstance(one, FoundFile)]
        notebooks = self._count_notebooks(inner)
        if entry.by_zip and notebooks > 1:
            raise RefusedError(
                f"it holds {notebooks} notebooks, so it may be those of several students; unpack "
                "it into a folder with the student's name"
            )
        nested = may_be_nested and not any(is_notebook(path.name) for path in inner)
        top = common_top(inner)
        for one in zip_items(data, zone, of_one_student=True):
            if isinstance(one, UnsafeName):
                self._refuse_in_zip(submitted, f"{shown}/{one.name}", one.why)
                continue
            path = PurePosixPath(*one.path.parts[top:])
            if path.name == TIMESTAMP:
                continue  # a student's own time stamp does not count
            try:
                content = submitted.read(one)
                time = when or one.when
                if nested and is_zip(path):
                    self._unpack(submitted, entry, content, time, f"{shown}/{path}", False)
                else:
                    found = FoundFile(path, time, one.read)
                    self._take(submitted, str(path), content, entry.version, found, shown)
            except RefusedError as error:
                self._refuse_in_zip(submitted, f"{shown}/{path}", str(error))

    def _refuse_in_zip(self, submitted: IncomingSubmission, file: str, reason: str) -> None:
        """List a file in a student's zip as refused; of too many, only the first ones."""
        submitted.refused += 1
        if submitted.refused <= MOST_REFUSED_IN_ZIPS:
            self.refused.append(refused_file(submitted, file, reason))

    def _count_unlisted(self, found: Iterable[IncomingSubmission]) -> None:
        """One line for each hand-in with more refused files than are listed."""
        for submitted in found:
            more = submitted.refused - MOST_REFUSED_IN_ZIPS
            if more > 0:
                shown = f"{submitted.origin}/{submitted.home}"
                reason = f"and {more} more files in its zips were not taken"
                self.refused.append(refused_file(submitted, shown, reason))

    def _count_notebooks(self, paths: Iterable[PurePosixPath]) -> int:
        """Notebooks that are not, by their names, other labs'."""
        labs = self._course.labs
        return sum(
            is_notebook(path.name) and lab_of(path.name, b"", labs) in ("", self._lab)
            for path in paths
        )

    def _take(
        self,
        submitted: IncomingSubmission,
        path: str,
        data: bytes,
        version: int,
        item: FoundFile,
        shown: str,
    ) -> None:
        """Add a file to a submission, unless it is another lab's notebook. Raises RefusedError."""
        other = lab_of(path, data, self._course.labs) if is_notebook(path) else ""
        if other not in ("", self._lab):
            submitted.other_labs.add(other)
            raise RefusedError(f"it is a notebook of {other}")
        submitted.add(path, data, version, item.when, shown)


def refused_file(submitted: IncomingSubmission, file: str, reason: str) -> Refused:
    """A refused file of a student who is known."""
    return Refused(file, reason, submitted.name, submitted.student)


@dataclass
class _Group:
    """The submissions of one source so far.

    Attributes:
        not_found: people who are listed as not found.
    """

    origin: str
    reader: Reader
    found: dict[tuple[str, str, str], IncomingSubmission] = field(default_factory=dict)
    not_found: set[tuple[str, str]] = field(default_factory=set)

    def submission(self, student: Student, entry: Entry, team: str) -> IncomingSubmission:
        """The submission that a file belongs to.

        Args:
            team: the group that handed it in; empty for a student alone.
        """
        key = (student.id, entry.attempt, entry.key)
        if key not in self.found:
            self.found[key] = IncomingSubmission(
                student.id, self.origin, student.name, entry.system, entry.home, entry.key, team
            )
        submitted = self.found[key]
        submitted.dated = submitted.dated and entry.dated
        if entry.time.source > submitted.time.source:
            submitted.time = entry.time
        return submitted
