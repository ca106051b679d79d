"""nbgrader: its exchange, and folders such as ``submitted/<student>/<lab>/…``.

The exchange names a folder ``<student>+<lab>+<time>[+<random>]`` (nbgrader/exchange/default/
submit.py), in the folder ``inbound`` of the course; times are in UTC unless they say otherwise.

Tested in tests/gradekit/submissions/test_who_and_when.py.
"""

from __future__ import annotations

from datetime import tzinfo
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


def is_home(folder: str, zone: tzinfo) -> bool:
    """Whether the exchange gives such a name to the folder of a hand-in."""
    return _fields(folder, zone) is not None


def reader(listing: Listing) -> Reader:
    """Reads paths of nbgrader's own folders."""

    def outer_names(path: PurePosixPath) -> set[str]:
        return {folder for folder, _ in listing.outer(path)}

    is_whole = any(outer_names(path) & _WITH_HAND_INS for path in listing.paths)
    has_submitted = _has_submitted(listing)

    def read(path: PurePosixPath) -> Entry | NotTaken | None:
        names = outer_names(path)
        if is_whole and names & _NO_HAND_INS and not names & _WITH_HAND_INS:
            return NotTaken("it is in a folder of nbgrader that has no hand-ins", expected=True)
        for folder, rest in listing.outer(path):
            if folder == _INBOUND and len(rest.parts) > 1:
                folder, rest = rest.parts[0], PurePosixPath(*rest.parts[1:])
            if (fields := _fields(folder, listing.zone)) is None:
                continue
            name, lab, time = fields
            if lab != listing.lab:
                return NotTaken(f"it is for {lab}")
            by_staff = _INBOUND in {listing.top, *names}
            return Entry(
                SYSTEM, (_student(name),), rest, folder, "", folder, time, by_staff=by_staff
            )
        return _submitted(listing, path) if has_submitted else None

    return read


def _fields(folder: str, zone: tzinfo) -> tuple[str, str, HandInTime] | None:
    """The student, the lab and the time in a name that the exchange wrote."""
    fields = folder.split("+")
    if len(fields) < 3 or (when := parse_timestamp(fields[2], zone)) is None:
        return None
    return fields[0], fields[1], HandInTime(when, TimeSource.PATH)


def _submitted(listing: Listing, path: PurePosixPath) -> Entry | NotTaken | None:
    """``[…/]submitted/<student>/<lab>/…``"""
    parts = _below_submitted(listing, path)
    if not _is_nbgraders(listing, parts):
        return None
    if parts[1] != listing.lab:
        return NotTaken(f"it is for {parts[1]}")
    student, home = _student(parts[0]), "/".join(parts[:2])
    return Entry(SYSTEM, (student,), PurePosixPath(*parts[2:]), home, by_staff=True)


def _has_submitted(listing: Listing) -> bool:
    """Whether every student's folder in ``submitted`` has one of a lab, as nbgrader makes it.

    In another folder of this name, a student's own folder may be called like a lab, and hold a time
    stamp that the student wrote.
    """
    hand_ins = [_below_submitted(listing, path) for path in listing.hand_ins]
    return all(_is_nbgraders(listing, parts) for parts in hand_ins if len(parts) > 1)


def _below_submitted(listing: Listing, path: PurePosixPath) -> tuple[str, ...]:
    """The parts of a path after ``submitted``, which may be the source itself; else none."""
    for folder, rest in listing.outer(path):
        if folder == SUBMITTED:
            return rest.parts
    return path.parts if listing.top == SUBMITTED else ()


def _is_nbgraders(listing: Listing, parts: tuple[str, ...]) -> bool:
    return len(parts) > 2 and parts[1] in listing.labs and not listing.is_home(parts[0])


def _student(name: str) -> Person:
    return Person(name, logins=(name,), names=(name,), new_id=name)
