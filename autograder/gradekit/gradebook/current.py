"""The gradebook's marks as they count now.

Tested in tests/gradekit/export/test_scores.py and tests/gradekit/feedback/test_page.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gradekit.gradebook.address import Address
from gradekit.gradebook.gradebook import Book
from gradekit.gradebook.marks import Marks
from gradekit.late import Lateness
from gradekit.submissions.released import Released


def current_marks(
    address: Address, lab: str, late: Mapping[str, Lateness], released: Released
) -> dict[str, Marks]:
    """The marks of each student, after the late penalties are brought up to date.

    Penalties change with marks given by hand, with dates, and with extensions.

    Args:
        late: by student, how late the hand-in is.
        released: the lab's notebook, which knows what its cells were called before.
    """
    with Book(address) as book:
        before = book.marks(lab)

        def penalty(student: str, points: float) -> float:
            known = late.get(student)
            return known.penalty(points) if known else before[student].penalty

        marks = book.marks(lab) if book.renew_penalties(lab, penalty) else before
    return {
        student: replace(
            known,
            marks=released.with_new_names(known.marks),
            comments=released.with_new_names(known.comments),
        )
        for student, known in marks.items()
    }
