"""A graded class of eight, put together from records: no student code is run."""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from gradekit.course import Course, load_course
from gradekit.gradebook.address import address_of
from gradekit.gradebook.entry import entry_of
from gradekit.gradebook.gradebook import Book
from gradekit.results.folder import journal_path
from gradekit.results.journal import Journal
from gradekit.results.records import State, SubmissionRecord
from gradekit.submissions.released import Released
from tests.helpers import submissions
from tests.helpers.gradebook import give_manual_mark
from tests.helpers.late_course import COURSE
from tests.helpers.submissions import LAB

STUDENTS = """\
id,name,section
ada,Ada Lovelace,Mon
bob,Bob Ross,Mon
cyd,Cyd Charisse,Tue
dan,Dan Brown,Tue
eve,Eve Arden,Tue
fay,Fay Wray,Tue
gil,Gil Evans,Tue
"""
IN_TIME, LATE = "2026-09-19T10:00:00+00:00", "2026-09-22T10:00:00+00:00"
GRADED = {  # state, time, softmax, entropy, the free-text answer, and a TA's points for it
    "ada": (State.GRADED, IN_TIME, 8.0, 4.0, "d", 4.0),
    "cyd": (State.GRADED, LATE, 6.0, 4.0, "d", 0.0),
    "eve": (State.GRADED, IN_TIME, 8.0, 0.0, "d", None),  # nobody has marked the text
    "fay": (State.THEIRS, IN_TIME, None, None, "", None),
    "gil": (State.OURS, IN_TIME, None, None, "d", None),
    "zed": (State.GRADED, IN_TIME, 2.0, 0.0, "", None),  # not in students.csv; wrote no text
}


@pytest.fixture(scope="session")
def graded_course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six hand-ins with results, dan's without one, and nothing from bob."""
    root = tmp_path_factory.mktemp("export") / "course"
    root.mkdir()
    (root / "course.toml").write_text(COURSE)
    (root / "students.csv").write_text(STUDENTS)
    released = submissions.released(root / "labs" / LAB)
    course = load_course(root)
    submissions.hand_in(root, "dan", b"{}", IN_TIME)
    with Book(address_of(course)) as book, Journal(journal_path(course, LAB)) as journal:
        book.register(LAB, released, course.lab(LAB).due)
        for student, (state, when, softmax, entropy, text, _) in GRADED.items():
            submissions.hand_in(root, student, b"{}", when)
            record = SubmissionRecord(
                student, LAB, "digest", state, "", (), {"explain": text}, when
            )
            scores = {"softmax": softmax, "entropy": entropy}
            entry = entry_of(course, record, datetime.fromisoformat(when), scores)
            journal.append([record])
            book.write(replace(entry, answers=entry.answers))
    for student, values in GRADED.items():
        if values[-1] is not None:
            give_manual_mark(address_of(course), student, "explain", values[-1])
    return root


@pytest.fixture
def course(graded_course: Path, tmp_path: Path) -> Course:
    """A copy of the graded class, to change as you like."""
    return load_course(Path(shutil.copytree(graded_course, tmp_path / "course")))


@pytest.fixture(scope="session")
def released(graded_course: Path) -> Released:
    return Released.read(next((graded_course / "labs" / LAB).glob("*.ipynb")))
