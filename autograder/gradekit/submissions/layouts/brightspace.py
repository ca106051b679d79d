"""Brightspace's (D2L's) download of an assignment: a folder for each hand-in, or all in one.

``<number>-<number> - <name> - Sep 18, 2026 1015 AM/…``; colons are left out of the time, which is
local. The numbers belong to the assignment, not to the student: three students of one download have
the same ones. Some universities have the student's own number, too: ``… - N0123456 - <name>- …``. A
student who hands in twice has two folders. The list index.html is beside them.

Tested in tests/gradekit/submissions/test_who_and_when.py.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from gradekit.roster.people import Person
from gradekit.submissions.layouts.listing import Entry, Listing, NotTaken, Reader
from gradekit.submissions.times import NO_TIME, HandInTime, TimeSource
from gradekit.submissions.written_dates import read_date

SYSTEM = "Brightspace"
_HOME = re.compile(
    r"(?P<home>\d+-\d+ - (?:(?P<id>\S*\d\S*) - )?(?P<name>.+?) ?- "
    r"(?P<time>[^-]*\b20\d\d[^-]*?|20\d\d-\d\d-\d\d [^-]+?))(?: - (?P<file>.+))?"
)


def written(name: str) -> int:
    """How many letters of a name Brightspace wrote at its beginning; 0 if it is not its own."""
    match = _HOME.fullmatch(name)
    return match.end("home") if match else 0


def reader(listing: Listing) -> Reader:
    """Reads paths of Brightspace's folders and files."""
    any_of_it = any(_HOME.match(part) for path in listing.paths for part in path.parts[:3])

    def read(path: PurePosixPath) -> Entry | NotTaken | None:
        for folder, rest in listing.outer(path):
            if (match := _HOME.fullmatch(folder)) and not match["file"]:
                return _entry(match, rest, listing)
        if not listing.is_outer_file(path):
            return None
        is_ours = listing.system_of(path.name) == SYSTEM
        if is_ours and (match := _HOME.fullmatch(path.name)) and match["file"]:
            return _entry(match, PurePosixPath(match["file"]), listing)
        if any_of_it and path.name == "index.html":
            return NotTaken("it is Brightspace's own list", expected=True)
        return None

    return read


def _entry(match: re.Match[str], path: PurePosixPath, listing: Listing) -> Entry:
    name, home = match["name"], match["home"]
    when = read_date(match["time"], listing.zone)
    time = HandInTime(when, TimeSource.PATH) if when else NO_TIME
    logins = (match["id"],) if match["id"] else ()
    person = Person(name, logins, names=(name,), new_id=match["id"] or name)
    return Entry(SYSTEM, (person,), path, home, attempt=home, time=time, dated=False)
