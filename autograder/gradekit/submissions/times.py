"""When was it handed in, and which source says so? An unknown time is never late.

Tested in tests/gradekit/submissions/test_times.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import IntEnum

# Copying or unpacking a class gives its files dates that follow each other without a pause.
_PAUSE = timedelta(seconds=10)


class TimeSource(IntEnum):
    """Where the time of a hand-in comes from; a source with a larger number is more reliable."""

    UNKNOWN = 0
    ON_TIME_OPTION = 1
    FILE_DATES = 2
    MARKED_LATE = 3
    COMMIT = 4
    PATH = 5
    TIMESTAMP = 6
    SYSTEM = 7
    TIMES_FILE = 8


_WORDS = {
    TimeSource.UNKNOWN: "unknown",
    TimeSource.ON_TIME_OPTION: "on time, as you said",
    TimeSource.FILE_DATES: "file date",
    TimeSource.MARKED_LATE: "marked as late",
    TimeSource.COMMIT: "git commit",
    TimeSource.PATH: "path",
    TimeSource.TIMESTAMP: "timestamp.txt",
    TimeSource.SYSTEM: "Gradescope",
    TimeSource.TIMES_FILE: "times file",
}


@dataclass(frozen=True)
class HandInTime:
    """When something was handed in.

    Attributes:
        when: None if it is unknown; then the hand-in counts as on time.
        source: where this time comes from.
    """

    when: datetime | None
    source: TimeSource

    @property
    def words(self) -> str:
        """Where the time comes from, in a few words for a table."""
        return _WORDS[self.source]


NO_TIME = HandInTime(None, TimeSource.UNKNOWN)


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
