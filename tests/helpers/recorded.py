"""Results without grading: hand-ins that are in ``submitted/`` get records and gradebook rows.

The lab has two exercises of 8 and 4 points and a free-text question of 4 (helpers/submissions.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gradekit.course import Course
from gradekit.gradebook.address import address_of
from gradekit.gradebook.entry import entry_of
from gradekit.gradebook.gradebook import Book
from gradekit.results.folder import journal_path
from gradekit.results.journal import Journal
from gradekit.results.records import Record, State, SubmissionRecord
from gradekit.submissions.folder import submission_time
from gradekit.submissions.released import Released
from tests.helpers.gradebook import give_manual_mark
from tests.helpers.submissions import released, result

OF = 16.0


@dataclass(frozen=True)
class Points:
    """One hand-in's points; `text` is None as long as nobody has marked the question."""

    softmax: float = 8.0
    entropy: float = 4.0
    text: float | None = 0.0
    state: State = State.GRADED


def record_lab(course: Course, lab: str, points: Mapping[str, Points]) -> None:
    """Write the results of a lab, for students whose hand-ins are there."""
    notebook = _released(course, lab)
    with Book(address_of(course)) as book, Journal(journal_path(course, lab)) as journal:
        book.register(lab, notebook, course.lab(lab).due)
        for student, given in points.items():
            _record(course, lab, student, given, book, journal)
    for student, given in points.items():
        if given.text:
            give_manual_mark(address_of(course), student, "explain", given.text)


def _released(course: Course, lab: str) -> Released:
    folder = course.root / "labs" / lab
    return Released.read(course.released(lab)) if folder.is_dir() else released(folder)


def _record(
    course: Course, lab: str, student: str, given: Points, book: Book, journal: Journal
) -> None:
    when = submission_time(course.root / "submitted" / student / lab)
    # A question without an answer is worth 0; with one, it waits for a mark.
    answers = {"explain": "" if given.text == 0 else "digest"}
    about = SubmissionRecord(
        student, lab, "digest", given.state, "", (), answers, when.isoformat() if when else None
    )
    scores = {"softmax": given.softmax, "entropy": given.entropy}
    wholes = {"softmax": 8.0, "entropy": 4.0}
    results = [
        Record(student, lab, "digest", f"{student} {name}", result(name, earned, wholes[name]))
        for name, earned in scores.items()
    ]
    journal.append([*results, about])
    book.write(entry_of(course, about, when, scores))
