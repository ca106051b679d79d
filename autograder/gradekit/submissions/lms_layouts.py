"""Whose file is it? The paths that course systems give hand-ins, read back.

================  ==================================================================
nbgrader          ``submitted/<student>/<lab>/…`` and ``<student>/<lab>/…``
its exchange      ``<student>+<lab>+<time>[+<random>]/…``
Canvas            ``lastfirst[_LATE]_<user>_<file>_<name>``
Moodle            ``Full Name_<number>_assignsubmission_file[_]/…``
folders, zips     ``<student>/…``, and ``<student>.zip`` or ``<student>-<lab>-handin.zip``
================  ==================================================================
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath

from gradekit.submissions.folder import SUBMITTED, parse_timestamp

_CANVAS = re.compile(r"(?P<who>[^_/]+)(?:_LATE)?_(?P<user>\d+)_(?P<file>\d+)_(?P<name>.+)")
_CANVAS_AGAIN = re.compile(r"-(\d+)(?=\.(?:ipynb|zip)$)", re.IGNORECASE)
_MOODLE = re.compile(r"(?P<who>.+)_(?P<user>\d+)_assignsubmission_(?P<kind>file|onlinetext)_?")
_NOBODY = "its path does not say whose it is; put it into a folder with the student's name"
_UNSAFE = re.compile(r"[^\w.@-]+")


@dataclass(frozen=True)
class ParsedPath:
    """What a path says.

    Attributes:
        student: a name that is safe as a folder's name.
        name: what the path calls the student.
        path: the file's path in the hand-in.
        attempt: tells a student's hand-ins apart where one source holds several.
        when: when it was handed in, where the path says so.
        version: a later one replaces an earlier one of the same path.
        by_staff: the folder is nbgrader's, so that its timestamp.txt is not the student's to write.
    """

    student: str
    name: str
    path: PurePosixPath
    attempt: str = ""
    when: datetime | None = None
    version: int = 0
    by_staff: bool = False


def parse_path(
    path: PurePosixPath, lab: str, labs: Iterable[str], top: str = "", shared: int = 0
) -> ParsedPath | str:
    """What a path says; or why it says nothing, in a few words.

    A folder's name counts only as far out as the source itself decides: further in, a student may
    have called a folder whatever they like, another student's name included.

    Args:
        path: from the top of a source.
        lab: the lab that is collected; `labs` are all of the course.
        top: the source's own name, which may stand in front of every path in it.
        shared: how many outer folders all paths of the source share (see :func:`common_top`).
    """
    parts = path.parts
    for depth, part in enumerate(parts[:-1][: shared + 1]):
        rest = PurePosixPath(*parts[depth + 1 :])
        if match := _MOODLE.fullmatch(part):
            if match["kind"] != "file":
                return "it is text from Moodle's editor, not a file"
            return _named(f"{match['who']}_{match['user']}", rest)
        fields = part.split("+")
        if len(fields) >= 3 and (when := parse_timestamp(fields[2])):
            if fields[1] != lab:
                return f"it is for {fields[1]}"
            return _named(fields[0], rest, attempt=part, when=when, by_staff=True)
    if len(parts) <= shared + 1 and (match := _CANVAS.fullmatch(path.name)):
        again = _CANVAS_AGAIN.search(match["name"])
        name = PurePosixPath(_CANVAS_AGAIN.sub("", match["name"]))
        version = int(again[1]) if again else 0
        return _named(f"{match['who']}_{match['user']}", name, version=version)
    if SUBMITTED in parts[:-2][: shared + 1]:
        parts = parts[parts.index(SUBMITTED) + 1 :]
    elif len(parts) > 2 and parts[0] == top:
        parts = parts[1:]
    return _in_folders(parts, lab, labs)


def _in_folders(parts: tuple[str, ...], lab: str, labs: Iterable[str]) -> ParsedPath | str:
    if len(parts) > 1 and parts[0] not in labs:
        if parts[1] == lab and len(parts) > 2:
            return _named(parts[0], PurePosixPath(*parts[2:]), by_staff=True)
        if parts[1] in labs and len(parts) > 2:
            return f"it is for {parts[1]}"
        return _named(parts[0], PurePosixPath(*parts[1:]))
    if parts[0].lower().endswith(".zip"):
        return _named(owner(parts[0][: -len(".zip")], lab), PurePosixPath(parts[0]))
    return _NOBODY


def common_top(paths: Iterable[PurePosixPath]) -> int:
    """How many outer folders all paths share."""
    listed = [path.parts for path in paths]
    depth = 0
    while listed and all(
        len(parts) > depth + 1 and parts[depth] == listed[0][depth] for parts in listed
    ):
        depth += 1
    return depth


def safe_student(name: str) -> str:
    """A student's name as a folder's name, also in nbgrader; empty where nothing is left."""
    return _UNSAFE.sub("_", name.strip()).strip("._-")[:100]


def owner(stem: str, lab: str) -> str:
    """The student in ``ada-lab01-handin``; nobody in ``lab01-handin``."""
    pattern = rf"(?:^|[-_ .]+)(?:{re.escape(lab)}\w*|hand-?in|\(\d+\))(?=$|[-_ .])"
    return re.sub(pattern, "", stem, flags=re.IGNORECASE).strip("-_ .")


def _named(
    name: str,
    path: PurePosixPath,
    attempt: str = "",
    when: datetime | None = None,
    version: int = 0,
    by_staff: bool = False,
) -> ParsedPath | str:
    student = safe_student(name)
    if not student:
        return _NOBODY
    return ParsedPath(student, name.strip(), path, attempt, when, version, by_staff)
