"""``lab collect``: submissions from folders, zips and course systems -> nbgrader's ``submitted/``.

A newer submission replaces an older one, never the other way round, and always as a whole. Every
refused file is listed with the reason; nothing that a student packed stops the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from gradekit.course import Course
from gradekit.errors import CollectError
from gradekit.roster.people import Directory
from gradekit.roster.students import FILE_NAME, load_roster
from gradekit.submissions.collected import Summary, Taken, shown_time
from gradekit.submissions.dating import Dating
from gradekit.submissions.folder import is_notebook
from gradekit.submissions.groups import read_groups
from gradekit.submissions.incoming import IncomingSubmission
from gradekit.submissions.layouts import canvas
from gradekit.submissions.sources import SourceReader, refused_file
from gradekit.submissions.stored import CollectState, SubmittedFolder
from gradekit.submissions.student_of import StudentFinder
from gradekit.submissions.times import HandInTime
from gradekit.submissions.times_file import read_times
from gradekit.wording import first_of

_MOST_NAMES = 5  # in one sentence


@dataclass(frozen=True)
class Options:
    """How to collect.

    Attributes:
        new: take people who are not in students.csv, too.
        times: files that say when each student handed in.
        groups: files that say who is in which group, if groups handed in together.
        on_time: hand-ins without a time are known to be on time, so that needs no warning.
        dry_run: change nothing.
    """

    new: bool = False
    times: tuple[Path, ...] = ()
    groups: tuple[Path, ...] = ()
    on_time: bool = False
    dry_run: bool = False


def collect_submissions(
    course: Course, lab: str, sources: Sequence[Path], options: Options | None = None
) -> Summary:
    """Bring the submissions for `lab` in `sources` (folders or zips) into ``submitted/``.

    Raises:
        CollectError: a source is not there, or a file of times or groups cannot be read.
        RosterError: students.csv cannot be read.
    """
    for source in sources:
        if not source.exists():
            raise CollectError(f"{source}: there is no such folder or zip; nothing was collected")
    return _Collection(course, lab, options or Options()).run(sources)


@dataclass(frozen=True)
class _Repeated:
    """Two hand-ins of one student."""

    not_counted: IncomingSubmission
    counts: IncomingSubmission


class _Collection:
    def __init__(self, course: Course, lab: str, options: Options) -> None:
        self._course, self._lab, self._options = course, lab, options
        self._expected = f"{course.source(lab).stem}.ipynb"
        self._directory = directory = Directory(load_roster(course.root))
        self._times = read_times(options.times, directory, course.timezone)
        self._groups = read_groups(options.groups, directory)
        self._reader = SourceReader(
            course, lab, StudentFinder(directory, options.new), self._times, self._groups
        )
        self._notes: list[str] = []
        self._repeated: list[_Repeated] = []
        self._renamed: dict[str, str] = {}  # by student, the notebook's own name

    def run(self, sources: Sequence[Path]) -> Summary:
        self._name_strangers("--times", self._times.strangers)
        self._name_strangers("--groups", self._groups.strangers)
        dating = Dating(self._course, self._lab, self._times, self._options.on_time)
        origins: dict[str, list[IncomingSubmission]] = {}
        for source in sources:
            for one in self._reader.read(source):
                origins.setdefault(one.origin, []).append(one)  # zips of one folder are one class
        found = [one for group in origins.values() for one in dating.dated(group)]
        self._notes += self._incomplete_groups(found)
        put = [(one, taken) for one in self._newest(found) if (taken := self._put(one))]
        self._notes += self._about_repeated()
        self._notes += self._about_renamed()
        # A better known time of the same files stays, so there is nothing to say about this one.
        dated = [one for one, taken in put if taken.time.source == one.time.source]
        for origin in origins:
            self._notes += dating.notes([one for one in dated if one.origin == origin])
        taken_ones = tuple(taken for _, taken in put)
        return Summary(taken_ones, tuple(self._reader.refused), tuple(self._notes))

    def _name_strangers(self, option: str, strangers: Sequence[str]) -> None:
        """Say whom a file names in vain."""
        if strangers:
            shown = first_of(strangers, _MOST_NAMES)
            self._notes.append(f"{option} names people who are not in {FILE_NAME}: {shown}.")

    def _incomplete_groups(self, found: Sequence[IncomingSubmission]) -> Iterator[str]:
        """Say where a hand-in may be that of a group of which others are not known."""
        for one in found:
            if one.group and self._groups.named([one.group]) is None:
                yield (
                    f"{one.origin}: {one.student} handed in for {one.group}, and the download does "
                    "not name the other members; give --groups FILE."
                )
        named = [
            (start.name, one)
            for one in found
            if one.system == canvas.SYSTEM and not one.group
            if (start := canvas.start_of(PurePosixPath(one.main_file).name)) and start.name
            if one.student in self._directory.roster
        ]
        others = [(name, one) for name, one in named if not self._is_called(one, name)]
        if others and 2 * len(others) >= len(named):
            name, one = others[0]
            yield (
                f"{one.origin}: {len(others)} of {len(named)} names are not those of the students "
                f"with these numbers, for example {name!r} for {one.name}. If groups handed in "
                "together, give --groups FILE."
            )

    def _is_called(self, one: IncomingSubmission, name: str) -> bool:
        return self._directory.is_called(self._directory.roster.student(one.student), name)

    def _newest(self, found: Iterable[IncomingSubmission]) -> list[IncomingSubmission]:
        """The newest submission of each student, in the order of students."""
        best: dict[str, IncomingSubmission] = {}
        for submitted in found:
            known = best.setdefault(submitted.student, submitted)
            if known is submitted:
                continue
            # Of one with a time and one without, nobody can say which is newer.
            first, second = sorted(
                (known, submitted), key=lambda one: (one.time.when is not None, one.order)
            )
            best[submitted.student] = second
            self._repeated.append(_Repeated(first, second))
        return [best[student] for student in sorted(best)]

    def _about_repeated(self) -> Iterator[str]:
        """Which hand-in counts, if a student has several: one line each, or one for many."""
        students = list(dict.fromkeys(one.counts.student for one in self._repeated))
        origins = {one.counts.origin for one in self._repeated}
        origins |= {one.not_counted.origin for one in self._repeated}
        if len(students) > _MOST_NAMES and len(origins) == 1:
            yield (
                f"{origins.pop()}: {len(students)} students handed in more than once, and of each "
                f"the newest hand-in counts: {first_of(students, _MOST_NAMES)}."
            )
            return
        for one in self._repeated:
            moment = one.counts.time.when
            when = moment and moment.astimezone(self._course.timezone)
            yield (
                f"{one.counts.student} handed in more than once; the one of {shown_time(when)} in "
                f"{one.counts.origin} counts and not the one in {one.not_counted.origin}."
            )

    def _about_renamed(self) -> Iterator[str]:
        """Which notebooks had other names in their sources: one line each, or one for many."""
        if len(self._renamed) > _MOST_NAMES:
            yield (
                f"{len(self._renamed)} notebooks had other names and were stored as "
                f"{self._expected}: {first_of(self._renamed, _MOST_NAMES)}."
            )
            return
        for student, name in self._renamed.items():
            yield f"{student}: {name} was stored as {self._expected}."

    def _put(self, found: IncomingSubmission) -> Taken | None:
        """Write one submission, unless an older one is there; then it is among the refused."""
        files = self._with_expected_name(found)
        submitted = SubmittedFolder(self._course.root, found.student, self._lab)
        there = submitted.order
        state = self._state(submitted, found, files)
        if state == "older":
            assert there is not None
            when = shown_time(there.astimezone(self._course.timezone))
            reason = f"it is older than the hand-in that is there ({when})"
            self._reader.refused.append(refused_file(found, found.main_file, reason))
            return None
        time = found.time
        if state == "same" and submitted.time.source > time.source:
            time = submitted.time
        zone = self._course.timezone
        if time.when:
            time = HandInTime(time.when.astimezone(zone), time.source)
        return Taken(found.student, found.name, found.main_file, time, found.origin, state)

    def _state(
        self, submitted: SubmittedFolder, found: IncomingSubmission, files: Mapping[str, bytes]
    ) -> CollectState:
        """What becomes of a submission; it is written, unless this is a dry run."""
        if self._options.dry_run:
            return submitted.state_for(found, files)
        try:
            return submitted.put(found, files)
        except OSError as error:
            where = submitted.folder.relative_to(submitted.root)
            raise CollectError(
                f"{where} cannot be written ({error.strerror}); "
                "correct that and collect again: collected hand-ins stay, and the rest follow"
            ) from error

    def _with_expected_name(self, found: IncomingSubmission) -> Mapping[str, bytes]:
        """The files, with the only notebook under the name that nbgrader expects."""
        notebooks = [name for name in found.files if is_notebook(name)]
        if len(notebooks) != 1 or notebooks == [self._expected] or self._expected in found.folders:
            return found.files
        self._renamed[found.student] = notebooks[0]
        found.paths[self._expected] = found.paths.pop(notebooks[0])
        found.files = {
            self._expected if name == notebooks[0] else name: data
            for name, data in found.files.items()
        }
        return found.files
