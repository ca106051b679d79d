"""ILIAS's "Download all submissions": a folder for each student, some folders down.

``<title>/<submissions>/<last name>_<first name>_<login>_<number>/…``, in ASCII (Modules/Exercise/
classes/class.ilExSubmission.php: downloadAllAssignmentFiles). A late file begins with "Late
Submission - " in the language of the course. Dates of files are those of the upload. Names and
logins may contain underscores. In an assignment for teams, the folder of the member who handed in
is in a folder ``Team <number>``, and the other members are not in the download.

Tested in tests/gradekit/submissions/test_who_and_when.py.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from gradekit.roster.people import Person
from gradekit.submissions.layouts.listing import Entry, Listing, NotTaken, Reader, endings

SYSTEM = "ILIAS"
_HOME = re.compile(r"(?P<who>[^_]+_[^_]+_.+)_(?P<number>\d+)")
_TEAM = re.compile(r"Team (?P<number>\d+)")
_DEEPEST = 3
_LATE = re.compile(r"^(?:Late Submission|Versp(?:ä|ae?)tete (?:Abgabe|Einreichung)) - ")


def reader(listing: Listing) -> Reader | None:
    """Reads paths of ILIAS's folders, if every notebook and zip is in one of them."""
    depth = next((d for d in range(_DEEPEST) if _all_at(d, listing)), None)
    if depth is None:
        return None

    def read(path: PurePosixPath) -> Entry | NotTaken | None:
        team = _TEAM.fullmatch(path.parts[depth]) if len(path.parts) > depth else None
        at = depth + 1 if team else depth
        match = _home(path, at)
        if match is None:
            return NotTaken("it is outside the students' folders", expected=True)
        name = _LATE.sub("", path.name)
        return Entry(
            SYSTEM,
            (_person(match),),
            PurePosixPath(*path.parts[at + 1 : -1], name),
            path.parts[depth],
            key=f"team {team['number']}" if team else match["number"],
            group=team[0] if team else "",
        )

    return read


def person_of(home: str) -> Person | None:
    """Who a folder of this name belongs to; None if ILIAS did not write it."""
    match = _HOME.fullmatch(home)
    return _person(match) if match else None


def _person(match: re.Match[str]) -> Person:
    who = match["who"]
    parts = endings(who, "_")
    names = tuple(_name(who, login) for login in parts[1:])
    return Person(who, logins=parts[2:3], names=names, new_id=f"{who}_{match['number']}")


def _all_at(depth: int, listing: Listing) -> bool:
    return bool(listing.hand_ins) and all(
        _home(path, depth)
        or (
            len(path.parts) > depth
            and _TEAM.fullmatch(path.parts[depth])
            and _home(path, depth + 1)
        )
        for path in listing.hand_ins
    )


def _home(path: PurePosixPath, at: int) -> re.Match[str] | None:
    """The student's folder, if a path has one at this place."""
    return _HOME.fullmatch(path.parts[at]) if len(path.parts) > at + 1 else None


def _name(who: str, login: str) -> str:
    """The part before the login, with spaces."""
    return who[: len(who) - len(login)].rstrip("_").replace("_", " ")
