"""Whose file is it? Reads the paths that course systems give to submissions.

================  ==================================================================
nbgrader          ``submitted/<student>/<lab>/…`` and ``<student>/<lab>/…``
its exchange      ``<student>+<lab>+<time>[+<random>]/…``
Canvas            ``lastfirst[_LATE]_<user>_<file>_<name>``
Moodle            ``Full Name_<number>_assignsubmission_file[_]/…``
folders, zips     ``<student>/…``, and ``<student>.zip`` or ``<student>-<lab>-handin.zip``
================  ==================================================================

Tested in tests/gradekit/submissions/test_collect.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath

from gradekit.submissions.folder import SUBMITTED, parse_timestamp

_CANVAS = re.compile(r"(?P<student>[^_/]+)(?:_LATE)?_(?P<user>\d+)_(?P<file>\d+)_(?P<name>.+)")
_CANVAS_AGAIN = re.compile(r"-(\d+)(?=\.(?:ipynb|zip)$)", re.IGNORECASE)
_MOODLE = re.compile(r"(?P<student>.+)_(?P<user>\d+)_assignsubmission_(?P<kind>file|onlinetext)_?")
_HAND_IN = r"(?:^|[-_ .]+)(?:hand-?in|\(\d+\))(?=$|[-_ .])"
_NO_STUDENT = "its path does not name the student; put it into a folder with the student's name"
_UNSAFE = re.compile(r"[^\w.@-]+")


@dataclass(frozen=True)
class ParsedPath:
    """The information in a path.

    Attributes:
        student: a name that is safe as a folder's name.
        name: the student's name as the path has it.
        path: the file's path in the submission.
        attempt: distinguishes a student's submissions if one source has several.
        when: the time at which it was handed in, if the path contains it.
        version: a later one replaces an earlier one of the same path.
        by_staff: the folder is nbgrader's, so the student cannot have written its timestamp.txt.
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
    """The information in a path; or in a few words why there is none.

    Only the outer folders' names count, which the source itself decides: a student may give any
    name to an inner folder, even another student's.

    Args:
        path: from the top of a source.
        lab: the lab that is collected; `labs` are all of the course.
        top: the source's own name, with which every path in it may begin.
        shared: the number of outer folders that all its paths share (see :func:`common_top`).
    """
    parts = path.parts
    for depth, part in enumerate(parts[:-1][: shared + 1]):
        rest = PurePosixPath(*parts[depth + 1 :])
        if match := _MOODLE.fullmatch(part):
            if match["kind"] != "file":
                return "it is text from Moodle's editor, not a file"
            return _named(f"{match['student']}_{match['user']}", rest)
        fields = part.split("+")
        if len(fields) >= 3 and (when := parse_timestamp(fields[2])):
            if fields[1] != lab:
                return f"it is for {fields[1]}"
            return _named(fields[0], rest, attempt=part, when=when, by_staff=True)
    if len(parts) <= shared + 1 and (match := _CANVAS.fullmatch(path.name)):
        again = _CANVAS_AGAIN.search(match["name"])
        name = PurePosixPath(_CANVAS_AGAIN.sub("", match["name"]))
        version = int(again[1]) if again else 0
        return _named(f"{match['student']}_{match['user']}", name, version=version)
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
        stem = parts[0][: -len(".zip")]
        named = [name for name in labs if re.search(_part(name), stem, re.IGNORECASE)]
        if named and lab not in named:
            return f"it is for {named[0]}"
        return _named(owner(stem, lab), PurePosixPath(parts[0]))
    return _NO_STUDENT


def common_top(paths: Iterable[PurePosixPath]) -> int:
    """The number of outer folders that all paths share."""
    listed = [path.parts for path in paths]
    depth = 0
    while listed and all(
        len(parts) > depth + 1 and parts[depth] == listed[0][depth] for parts in listed
    ):
        depth += 1
    return depth


def safe_student(name: str) -> str:
    """A student's name as a folder's name, even in nbgrader; empty if nothing is left."""
    return _UNSAFE.sub("_", name.strip()).strip("._-")[:100]


def owner(stem: str, lab: str) -> str:
    """The student in ``ada-lab01-handin``; empty for ``lab01-handin``."""
    without_lab = re.sub(_part(lab), "", stem, flags=re.IGNORECASE)
    return re.sub(_HAND_IN, "", without_lab, flags=re.IGNORECASE).strip("-_ .")


def _part(lab: str) -> str:
    """The part of a zip's name that says its lab, such as ``-lab01`` or ``_lab01_softmax``."""
    return rf"(?:^|[-_ .]+){re.escape(lab)}\w*(?=$|[-_ .])"


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
        return _NO_STUDENT
    return ParsedPath(student, name.strip(), path, attempt, when, version, by_staff)
