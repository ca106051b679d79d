"""The journal's results into the gradebook, for ``lab grade`` and for nbgrader's commands.

Importing this file does not import nbgrader, which takes two seconds; writing does. Tested in
tests/gradekit/gradebook/test_update.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gradekit.course import Course
from gradekit.gradebook.address import Address, address_of, rows_in
from gradekit.gradebook.entry import Entry, entry_of, unstored
from gradekit.results.journal import Journal
from gradekit.roster.students import Roster, load_roster
from gradekit.submissions.folder import SubmittedFiles
from gradekit.untrusted.imports import gc_disabled

if TYPE_CHECKING:
    from gradekit.gradebook.gradebook import Book
    from gradekit.submissions.released import Released


@dataclass(frozen=True)
class GradebookUpdate:
    """Brings one lab's rows of a gradebook to the journal's state.

    Attributes:
        journal: the lab's, open.
        address: of the gradebook.
    """

    course: Course
    lab: str
    journal: Journal
    address: Address

    def entry(self, submitted: SubmittedFiles, keys: Mapping[str, str]) -> Entry | None:
        """The gradebook's entry of one submission; None if the journal has no record of it.

        Args:
            submitted: its files now, whose contents are not read.
            keys: the journal's keys of its exercises, by name.
        """
        record = self.journal.submission(submitted.student, submitted.digest)
        if record is None:
            return None
        scores = self.journal.scores(keys)
        return entry_of(self.course, record, submitted.submitted_at, scores)

    def missing(self, entries: Sequence[Entry]) -> list[Entry]:
        """The entries that the gradebook lacks, or holds with other values."""
        stored = {
            entry.student: self.journal.stored(entry.student, self.address.shown)
            for entry in entries
        }
        return unstored(entries, stored, rows_in(self.address))

    @contextmanager
    def book(self, released: Released) -> Iterator[Book]:
        """The open gradebook, with the lab registered as ``nbgrader generate_assignment`` would."""
        with gc_disabled():
            from gradekit.gradebook.gradebook import Book

        with Book(self.address) as book:
            book.enrol(load_roster(self.course.root))
            book.register(self.lab, released, self.course.lab(self.lab).due)
            yield book

    def write(self, entries: Iterable[Entry], released: Released) -> None:
        """Write entries to the gradebook, and note each of them in the journal."""
        with self.book(released) as book:
            for entry in entries:
                before = self.journal.stored(entry.student, self.address.shown)
                now = None if entry.answers is None else released.with_new_names(entry.answers)
                marked = released.with_new_names(before.answers) if before else None
                row = book.write(replace(entry, answers=now), marked)
                self.journal.mark_stored(entry.stored(self.address, row))


def enrol(course: Course, roster: Roster) -> None:
    """Bring the gradebook's table of students to the roster."""
    with gc_disabled():
        from gradekit.gradebook.gradebook import Book

    with Book(address_of(course)) as book:
        book.enrol(roster)
