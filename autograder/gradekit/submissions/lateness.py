"""How late a student's hand-in is, with the slip days that earlier labs have left.

Tested in tests/gradekit/submissions/test_lateness.py.
"""

from __future__ import annotations

from datetime import datetime

from gradekit.course import Course
from gradekit.late import Lateness, lateness_of
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
        (other, submission_time(folder / other)) for other in before if course.dates(other).points
    ]
    return lateness_of(course, lab, student, submitted_at, earlier)
