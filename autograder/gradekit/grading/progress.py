"""What ``lab grade`` reports to while it grades. Tested in tests/gradekit/grading/test_view.py."""

from __future__ import annotations

from typing import Protocol


class ProgressReporter(Protocol):
    """Shows the progress of a run to the user."""

    def say(self, sentence: str) -> None:
        """Show a message now."""

    def begin(self, total: int) -> None:
        """Start: `total` hand-ins will be graded."""

    def advance(self, student: str) -> None:
        """One more hand-in is graded."""
