"""When each hand-in of a source was handed in: from the best source, or unknown.

Tested in tests/gradekit/submissions/test_who_and_when.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from gradekit.course import Course
from gradekit.submissions.incoming import IncomingSubmission
from gradekit.submissions.times import HandInTime, TimeSource, believable
from gradekit.submissions.times_file import TimesFile
from gradekit.wording import counted


class Dating:
    """Gives hand-ins their times, those of one source together."""

    def __init__(self, course: Course, lab: str, times: TimesFile, on_time: bool) -> None:
        self._course, self._times, self._on_time = course, times, on_time
        grace = timedelta(minutes=course.values.late.grace_minutes)
        # A mark does not say how late; a student with an extension may still be on time.
        self._first_late = course.lab(lab).due + grace + timedelta(seconds=1)

    def dated(self, found: Sequence[IncomingSubmission]) -> Sequence[IncomingSubmission]:
        """The same hand-ins, each with its time."""
        for one in found:
            given = self._times.time(one.student, one.system, one.key)
            if given:
                one.time = given
        self._take_file_dates([one for one in found if one.time.when is None and one.dated])
        for one in found:
            if one.time.source == TimeSource.MARKED_LATE:
                one.time = HandInTime(self._first_late, TimeSource.MARKED_LATE)
        if self._on_time:
            for one in found:
                if one.time.when is None:
                    one.time = HandInTime(None, TimeSource.ON_TIME_OPTION)
        return found

    def _take_file_dates(self, found: Sequence[IncomingSubmission]) -> None:
        dates = {one: date for one in range(len(found)) if (date := found[one].file_date)}
        newest: dict[str, datetime] = {}
        for number, date in dates.items():
            student = found[number].student
            newest[student] = max(date, newest.get(student, date))
        believed = dict(zip(newest, believable(list(newest.values())), strict=True))
        for number, date in dates.items():
            if believed[found[number].student]:
                found[number].time = HandInTime(date, TimeSource.FILE_DATES)

    def notes(self, found: Sequence[IncomingSubmission]) -> Iterator[str]:
        """What to say about the times of one source's hand-ins, one sentence each."""
        unknown = [one for one in found if one.time.source == TimeSource.UNKNOWN]
        if unknown:
            several = len(unknown) > 1
            whose = f"{len(unknown)} hand-ins" if several else "1 hand-in"
            yield (
                f"{unknown[0].origin}: {whose}{self._same_date(unknown)}; the time is unknown, so "
                f"{'they count' if several else 'it counts'} as on time. Give --times FILE, or "
                "--on-time if that is right."
            )
        systems = [one.system for one in found if one.time.source == TimeSource.MARKED_LATE]
        if late := len(systems):
            grace = self._course.values.late.grace_minutes
            when = f"due date and its {counted(grace, 'minute')} of grace" if grace else "due date"
            yield (
                f"{found[0].origin}: {systems[0]} marks {late} as late, but not how late; "
                f"{'they count' if late > 1 else 'it counts'} as handed in just after the {when}. "
                "Give --times FILE for exact times."
            )

    def _same_date(self, unknown: Sequence[IncomingSubmission]) -> str:
        """What the files' dates show: nothing, or when the zip was made."""
        dates = {
            f"{date.astimezone(self._course.timezone):%d %b %H:%M}"
            for one in unknown
            if (date := one.file_date)
        }
        if len(dates) == 1 and len(unknown) > 1:
            return f" all carry {dates.pop()}, when the files were packed or copied"
        return "" if len(unknown) == 1 else " carry no time of their own"
