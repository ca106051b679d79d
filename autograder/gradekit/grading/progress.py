"""Whoever looks on while a class is graded: what ``lab grade`` reports to."""

from __future__ import annotations

from typing import Protocol


class ProgressReporter(Protocol):
    """Somebody who looks on while a batch is graded."""

    def say(self, sentence: str) -> None:
        """A sentence to read now."""

    def begin(self, total: int) -> None:
        """So many hand-ins will be graded."""

    def advance(self, student: str) -> None:
        """One more is done."""
