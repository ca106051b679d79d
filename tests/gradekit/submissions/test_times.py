"""Which file dates may be times of hand-ins, and who is believed more."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from gradekit.submissions.times import HandInTime, TimeSource, believable

START = datetime(2026, 9, 20, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "believed"),
    [
        ([], []),
        ([0], [False]),
        ([0, 0], [False, False]),
        ([0, 8], [False, False]),
        ([0, 3600], [True, True]),
        ([0, 60, 120], [True, True, True]),
        ([0, 2, 4, 6, 8], [False] * 5),
        ([4, 90_000, 2, 0], [False, True, False, False]),
        ([0, 5, 3600, 7200], [True, True, True, True]),
    ],
)
def test_dates_that_were_made_together_are_not_believed(
    seconds: list[int], believed: list[bool]
) -> None:
    assert believable([START + timedelta(seconds=n) for n in seconds]) == believed


def test_everybody_who_may_tell_a_time_has_words() -> None:
    assert all(HandInTime(None, told).words for told in TimeSource)
    assert (
        TimeSource.TIMES_FILE
        > TimeSource.SYSTEM
        > TimeSource.PATH
        > TimeSource.COMMIT
        > TimeSource.FILE_DATES
        > TimeSource.UNKNOWN
    )
