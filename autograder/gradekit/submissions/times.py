"""When was it handed in, and who says so? Without any source, a time is unknown, never late.

Tested in tests/gradekit/submissions/test_times.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import IntEnum

# Copying or unpacking a class gives its files dates that follow each other without a pause.
_PAUSE = timedelta(seconds=10)


class Told(IntEnum):
    """Who tells the time of a hand-in; a later one is believed more."""

    NOBODY = 0
    BY_HAND = 1
    FILE_DATES = 2
    MARKED_LATE = 3
    COMMIT = 4
    PATH = 5
    TIMESTAMP = 6
    SYSTEM = 7
    TIMES_FILE = 8


_WORDS = {
    Told.NOBODY: "unknown",
    Told.BY_HAND: "on time, as you said",
    Told.FILE_DATES: "file date",
    Told.MARKED_LATE: "marked as late",
    Told.COMMIT: "git commit",
    Told.PATH: "path",
    Told.TIMESTAMP: "timestamp.txt",
    Told.SYSTEM: "Gradescope",
    Told.TIMES_FILE: "times file",
}


@dataclass(frozen=True)
class HandInTime:
    """When something was handed in.

    Attributes:
        when: None if it is unknown; then the hand-in counts as on time.
        told: who says so.
    """

    when: datetime | None
    told: Told

    @property
    def words(self) -> str:
        """Who says so, in a few words for people."""
        return _WORDS[self.told]


NO_TIME = HandInTime(None, Told.NOBODY)


def believable(dates: Sequence[datetime]) -> list[bool]:
    """For the newest file date of each student: may it be the time of the hand-in?

    It is not if the dates do not differ among students. Where three or more follow each other
    without a pause, they were made when files were copied or packed.
    """
    order = sorted(range(len(dates)), key=lambda number: dates[number])
    bursts: list[list[int]] = []
    for number in order:
        if bursts and dates[number] - dates[bursts[-1][-1]] <= _PAUSE:
            bursts[-1].append(number)
        else:
            bursts.append([number])
    believed = [False] * len(dates)
    for burst in bursts:
        if len(burst) < 3 and len(burst) < len(dates):
            for number in burst:
                believed[number] = True
    return believed
