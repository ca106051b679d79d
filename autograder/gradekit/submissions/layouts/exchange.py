"""nbgrader: its exchange, and folders such as ``submitted/<student>/<lab>/…``.

The exchange names a folder ``<student>+<lab>+<time>[+<random>]`` (nbgrader/exchange/default/
submit.py), in the folder ``inbound`` of the course; times are in UTC unless they say otherwise.

Tested in tests/gradekit/submissions/test_who_and_when.py.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from gradekit.roster.people import Person
from gradekit.submissions.folder import SUBMITTED, parse_timestamp
from gradekit.submissions.layouts.listing import Entry, Listing, NotTaken, Reader
from gradekit.submissions.times import HandInTime, TimeSource

SYSTEM = "nbgrader"
_INBOUND = "inbound"
_WITH_HAND_INS = {_INBOUND, SUBMITTED}
# nbgrader's other folders, which may be beside those of hand-ins.
_NO_HAND_INS = {"source", "release", "autograded", "feedback", "outbound", "downloaded"}


def reader(listing: Listing) -> Reader:
    """Reads paths of nbgrader's own folders."""

    def outer_names(path: PurePosixPath) -> set[str]:
        return {folder for folder, _ in listing.outer(path)}

    is_whole = any(outer_names(path) & _WITH_HAND_INS for path in listing.paths)

    def read(path: PurePosixPath) -> Entry | NotTaken | None:
        names = outer_names(path)
        if is_whole and names & _NO_HAND_INS and not names & _WITH_HAND_INS:
            return NotTaken("it is in a folder of nbgrader that has no hand-ins", expected=True)
        for folder, rest in listing.outer(path):
            if folder == _INBOUND and len(rest.parts) > 1:
                folder, rest = rest.parts[0], PurePosixPath(*rest.parts[1:])
            fields = folder.split("+")
            if len(fields) < 3 or (when := parse_timestamp(fields[2], listing.zone)) is None:
                continue
            if fields[1] != listing.lab:
                return NotTaken(f"it is for {fields[1]}")
            time = HandInTime(when, TimeSource.PATH)
            return Entry(
                SYSTEM, (_student(fields[0]),), rest, folder, "", folder, time, by_staff=True
            )
        return _submitted(listing, path)

    return read


def _submitted(listing: Listing, path: PurePosixPath) -> Entry | NotTaken | None:
    """``[…/]submitted/<student>/<lab>/…`` or ``<student>/<lab>/…``."""
    parts = path.parts
    if SUBMITTED in parts[:-2][: listing.shared + 1]:
        parts = parts[parts.index(SUBMITTED) + 1 :]
    elif len(parts) > 3 and parts[0] == listing.top:
        parts = parts[1:]
    if len(parts) < 3 or parts[0] in listing.labs or parts[1] not in listing.labs:
        return None
    if parts[1] != listing.lab:
        return NotTaken(f"it is for {parts[1]}")
    student, home = _student(parts[0]), "/".join(parts[:2])
    return Entry(SYSTEM, (student,), PurePosixPath(*parts[2:]), home, by_staff=True)


def _student(name: str) -> Person:
    return Person(name, logins=(name,), names=(name,), new_id=name)
