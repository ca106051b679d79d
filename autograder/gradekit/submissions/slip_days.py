"""How late a hand-in is after the slip days that earlier labs used; the rule itself is late.py.

Tested in tests/gradekit/submissions/test_slip_days.py.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path

from gradekit.course import Course
from gradekit.late import Lateness, lateness_of
from gradekit.results.records import SubmissionRecord
from gradekit.submissions.folder import SUBMITTED, submission_time


def lateness_now(course: Course, lab: str, student: str, submitted_at: datetime | None) -> Lateness:
    """The lateness of a hand-in; on time if the time is unknown.

    A lab without points uses no slip day. If a hand-in of an earlier lab changes, or its time, the
    slip days for this one change, too.
    """
    if not course.values.late.slip_days:
        return lateness_of(course, lab, student, submitted_at)
    before = course.labs[: course.labs.index(lab)]
    folder = course.root / SUBMITTED / student
    earlier = [
        (other, submission_time(folder / other)) for other in before if course.lab(other).points
    ]
    return lateness_of(course, lab, student, submitted_at, earlier)


def with_time_now(root: Path, record: SubmissionRecord) -> SubmissionRecord:
    """The record of a hand-in with the time that `lab collect` may have learned since."""
    folder = root / SUBMITTED / record.student / record.lab
    if not folder.is_dir():
        return record
    when = submission_time(folder)
    return replace(record, submitted_at=when.isoformat() if when else None)
