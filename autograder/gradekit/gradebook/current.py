"""The gradebook's marks as they count now.

Tested in tests/gradekit/export/test_scores.py and tests/gradekit/feedback/test_page.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from gradekit.gradebook.address import Address
from gradekit.gradebook.gradebook import Book
from gradekit.gradebook.marks import Marks
from gradekit.gradebook.reading import marks_now
from gradekit.late import Lateness
from gradekit.submissions.released import Released


def current_marks(
    address: Address, lab: str, late: Mapping[str, Lateness], released: Released
) -> dict[str, Marks]:
    """What :func:`marks_now` says, after the gradebook's late penalties are brought up to date."""
    with Book(address) as book:
        before = book.marks(lab)

        def penalty(student: str, points: float) -> float:
            known = late.get(student)
            return known.penalty(points) if known else before[student].penalty

        book.renew_penalties(lab, penalty)
    return marks_now(address, lab, late, released)
