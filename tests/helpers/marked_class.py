"""A class whose free-text answers wait for a mark, put together from records: no code is run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import nbformat

from gradekit.course import Course, load_course
from gradekit.gradebook.address import address_of
from gradekit.gradebook.entry import entry_of
from gradekit.gradebook.update import GradebookUpdate
from gradekit.results.folder import journal_path
from gradekit.results.journal import Journal
from gradekit.results.records import State, SubmissionRecord, digest_of
from gradekit.submissions.align import answer_digests
from gradekit.submissions.released import Released
from tests.helpers import submissions
from tests.helpers.late_course import COURSE
from tests.helpers.submissions import LAB, NAME, PLACEHOLDER, as_bytes, released_cells

SOLUTION = """\
<!-- BEGIN SOLUTION -->
The exponentials stay finite: the largest is 1.
{scheme}<!-- END SOLUTION -->"""
SCHEME = """\
<!-- BEGIN MARK SCHEME -->
- 3: says that exponentials overflow
- 1: says that the result is the same
<!-- END MARK SCHEME -->
"""


def write_course(root: Path, scheme: str = "") -> Course:
    """A course with one lab, released and solved; nobody has handed in."""
    root.mkdir()
    (root / "course.toml").write_text(COURSE)
    submissions.released(root / "labs" / LAB)
    cells = released_cells()
    question = cells[-2]["source"]
    cells[-1]["source"] = f"{question}\n\n{SOLUTION.format(scheme=scheme)}"
    (root / "solutions" / LAB).mkdir(parents=True)
    (root / "solutions" / LAB / f"{NAME}.ipynb").write_bytes(as_bytes(cells))
    return load_course(root)


def grade(course: Course, texts: Mapping[str, str]) -> None:
    """Leave what ``lab grade`` leaves, for students who hand in these answers."""
    released = Released.read(course.released(LAB))
    with Journal(journal_path(course, LAB)) as journal:
        update = GradebookUpdate(course, LAB, journal, address_of(course))
        entries = []
        for student, text in texts.items():
            cells = released_cells()
            cells[-1]["source"] = text or PLACEHOLDER
            folder = course.root / "autograded" / student / LAB
            folder.mkdir(parents=True, exist_ok=True)
            raw = as_bytes(cells)
            (folder / f"{NAME}.ipynb").write_bytes(raw)
            answers = answer_digests(nbformat.from_dict(json.loads(raw)), released)
            record = SubmissionRecord(student, LAB, digest_of(raw), State.GRADED, answers=answers)
            journal.append([record])
            entries.append(entry_of(course, record, None, {"softmax": 8.0, "entropy": 4.0}))
        update.write(entries, released)
