"""Blackboard's "Assignment File Download": all files in one folder.

``<assignment>_<login>_attempt_<time>_<file>``, and for each attempt a text with the same beginning
that holds the student's comments (github.com/kwurst/bb-file-cleanup describes it). The time is
that of the server, without a zone. Assignments and logins may contain underscores.

Tested in tests/gradekit/submissions/test_who_and_when.py.
"""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import PurePosixPath

from gradekit.roster.people import Person
from gradekit.submissions.layouts.listing import (
    Entry,
    Listing,
    NotTaken,
    Reader,
    common_start,
    endings,
)
from gradekit.submissions.times import NO_TIME, HandInTime, TimeSource

SYSTEM = "Blackboard"
# Of several times in a name, the first is Blackboard's: what follows it is the student's own.
_NAME = re.compile(
    r"(?P<home>(?P<who>.+?)_attempt_(?P<time>\d{4}(?:-\d{2}){5}))(?:_(?P<file>.+)|\.txt)"
)


def written(name: str) -> int:
    """How many letters of a name Blackboard wrote at its beginning; 0 if it is not Blackboard's."""
    match = _NAME.fullmatch(name)
    return match.end("home") if match else 0


def reader(listing: Listing) -> Reader:
    """Reads names of Blackboard's files."""

    def match_of(path: PurePosixPath) -> re.Match[str] | None:
        is_ours = listing.is_outer_file(path) and listing.system_of(path.name) == SYSTEM
        return _NAME.fullmatch(path.name) if is_ours else None

    matches = map(match_of, listing.paths)
    start = common_start(match["who"] for match in matches if match)
    assignment = start[: start.rfind("_") + 1]

    def read(path: PurePosixPath) -> Entry | NotTaken | None:
        match = match_of(path)
        if not match:
            return None
        if not match["file"]:
            return NotTaken("it is Blackboard's note about an attempt", expected=True)
        login = match["who"].removeprefix(assignment)
        if not assignment:
            login = endings(login, "_")[-1]
        # Logins with underscores may all begin alike, so the login may be longer, never shorter.
        logins = tuple(text for text in endings(match["who"], "_") if len(text) >= len(login))
        person = Person(login, logins, new_id=login)
        home = match["home"]
        time = _time(match["time"], listing)
        return Entry(SYSTEM, (person,), PurePosixPath(match["file"]), home, attempt=home, time=time)

    return read


def _time(text: str, listing: Listing) -> HandInTime:
    try:
        when = datetime.strptime(text, "%Y-%m-%d-%H-%M-%S").replace(tzinfo=listing.zone)
    except ValueError:
        return NO_TIME
    return HandInTime(when, TimeSource.PATH)
