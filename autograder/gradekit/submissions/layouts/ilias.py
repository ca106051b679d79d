"""ILIAS's "Download all submissions": a folder for each student, some folders down.

``<title>/<submissions>/<last name>_<first name>_<login>_<number>/…``, in ASCII (Modules/Exercise/
classes/class.ilExSubmission.php: downloadAllAssignmentFiles). A late file begins with "Late
Submission - " in the language of the course. Dates of files are those of the upload. Names and
logins may contain underscores.

Tested in tests/gradekit/submissions/test_who_and_when.py.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from gradekit.roster.people import Person
from gradekit.submissions.layouts.listing import Entry, Listing, NotTaken, Reader, endings

SYSTEM = "ILIAS"
_HOME = re.compile(r"(?P<who>[^_]+_[^_]+_.+)_(?P<number>\d+)")
_DEEPEST = 3
_LATE = re.compile(r"^(?:Late Submission|Versp(?:ä|ae?)tete (?:Abgabe|Einreichung)) - ")


def reader(listing: Listing) -> Reader | None:
    """Reads paths of ILIAS's folders, if every notebook and zip is in one of them."""
    depth = next((d for d in range(_DEEPEST) if _all_at(d, listing)), None)
    if depth is None:
        return None

    def read(path: PurePosixPath) -> Entry | NotTaken | None:
        if len(path.parts) <= depth + 1 or not (match := _HOME.fullmatch(path.parts[depth])):
            return NotTaken("it is outside the students' folders", expected=True)
        parts = endings(match["who"], "_")
        names = tuple(_name(match["who"], login) for login in parts[1:])
        person = Person(
            match["who"], logins=parts[2:3], names=names, new_id=f"{match['who']}_{match['number']}"
        )
        name = _LATE.sub("", path.name)
        rest = PurePosixPath(*path.parts[depth + 1 : -1], name)
        return Entry(SYSTEM, (person,), rest, path.parts[depth], key=match["number"])

    return read


def _all_at(depth: int, listing: Listing) -> bool:
    return bool(listing.hand_ins) and all(
        len(path.parts) > depth + 1 and _HOME.fullmatch(path.parts[depth])
        for path in listing.hand_ins
    )


def _name(who: str, login: str) -> str:
    """The part before the login, with spaces."""
    return who[: len(who) - len(login)].rstrip("_").replace("_", " ")
