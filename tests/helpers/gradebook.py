"""One student's entry for a gradebook, and what a TA does to it in formgrader."""

from __future__ import annotations

from datetime import UTC, datetime

from nbgrader.api import Gradebook

from gradekit.gradebook.address import Address
from gradekit.gradebook.entry import Entry
from tests.helpers.submissions import LAB, NAME

DUE = datetime(2026, 9, 20, 21, 59, tzinfo=UTC)


ENTRY = Entry(
    "ada",
    LAB,
    DUE.replace(tzinfo=None),
    0.0,
    {"softmax": 8.0, "entropy": 1.5},
    {"explain": "digest"},
    0.0,
)


def give_manual_mark(
    address: Address, student: str, cell: str, points: float, extra: float = 0
) -> None:
    """What formgrader does when a TA gives points."""
    with Gradebook(address.url) as gradebook:
        grade = gradebook.find_grade(cell, NAME, LAB, student)
        grade.manual_score, grade.needs_manual_grade = points, False
        grade.extra_credit = extra or None
        comment = gradebook.find_comment("explain", NAME, LAB, student)
        comment.manual_comment = "Well put."
        gradebook.db.commit()
