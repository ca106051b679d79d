"""What a layout sees of a source, and what it answers.

Tested in tests/gradekit/submissions/test_who_and_when.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import cached_property
from pathlib import Path, PurePosixPath

from gradekit.roster.people import Person
from gradekit.submissions.archives import is_zip
from gradekit.submissions.folder import is_notebook
from gradekit.submissions.times import NO_TIME, HandInTime


@dataclass(frozen=True)
class Listing:
    """The files of one source.

    Attributes:
        paths: of all its files, from its top.
        lab: the lab that is collected; `labs` are all of the course.
        zone: of times without one.
        top: the source's own name, with which every path in it may begin.
        knows: whether a text is a student's id, login or name.
        knows_canvas_id: whether a number is a student's in Canvas.
        read: the bytes of a file; raises RefusedError.
        folder: where the source is, if it is a folder.
        is_home: whether a folder's name has the form that a system gives to one hand-in.
        system_of: which system wrote the beginning of a file's name; empty if none did.
    """

    paths: tuple[PurePosixPath, ...]
    lab: str
    labs: tuple[str, ...]
    zone: tzinfo
    top: str = ""
    knows: Callable[[str], bool] = lambda text: False
    knows_canvas_id: Callable[[str], bool] = lambda number: False
    read: Callable[[PurePosixPath], bytes] = lambda path: b""
    folder: Path | None = None
    is_home: Callable[[str], bool] = lambda name: False
    system_of: Callable[[str], str] = lambda name: ""

    @cached_property
    def shared(self) -> int:
        """The number of outer folders that all paths share."""
        return common_top(self.paths)

    def outer(self, path: PurePosixPath) -> Iterator[tuple[str, PurePosixPath]]:
        """Each folder that only the source itself can have named, and the rest of the path.

        A student may give any name to an inner folder, even another student's. All paths share it
        if the source is the hand-in of one student, so the first folder of a student or of a system
        is the last that counts.
        """
        parts = path.parts
        for depth, part in enumerate(parts[:-1][: self.shared + 1]):
            yield part, PurePosixPath(*parts[depth + 1 :])
            if self.is_of_one(part):
                return

    def is_outer_file(self, path: PurePosixPath) -> bool:
        """Whether a file is so far up that only the source itself can have named it."""
        return len(path.parts) <= self.shared + 1 and not any(map(self.is_of_one, path.parts[:-1]))

    def is_of_one(self, folder: str) -> bool:
        """Whether a folder is that of one hand-in, so the names in it are the student's own."""
        return self.knows(folder) or self.is_home(folder)

    @cached_property
    def hand_ins(self) -> tuple[PurePosixPath, ...]:
        """The notebooks and the zips."""
        return tuple(path for path in self.paths if is_notebook(path.name) or is_zip(path))


@dataclass(frozen=True)
class Entry:
    """One file of a hand-in.

    Attributes:
        system: which one wrote the path.
        people: whose it is; several for the hand-in of a group.
        path: the file's path in the hand-in.
        home: the outer folder or the beginning of the name that distinguishes hand-ins, for the
            way back to the system.
        key: two people of one name have different ones; empty if the system tells nothing more.
        attempt: distinguishes hand-ins if one person has several in a source.
        time: when it was handed in, as the path or the system tells.
        version: a later one replaces an earlier one of the same path.
        by_staff: the folder is in one of nbgrader's, so its timestamp.txt is nbgrader's, too.
        dated: whether the source's dates of files may be those of the hand-in.
        by_zip: only the zip's own name tells whose it is.
        group: the name of the group, if the path has it and `people` are not all of it.
    """

    system: str
    people: tuple[Person, ...]
    path: PurePosixPath
    home: str = ""
    key: str = ""
    attempt: str = ""
    time: HandInTime = NO_TIME
    version: int = 0
    by_staff: bool = False
    dated: bool = True
    by_zip: bool = False
    group: str = ""


@dataclass(frozen=True)
class NotTaken:
    """A file without a student, and why.

    Attributes:
        expected: the system writes such a file itself, so it is not worth a line.
    """

    reason: str
    expected: bool = False


Reader = Callable[[PurePosixPath], Entry | NotTaken | None]


def common_top(paths: Iterable[PurePosixPath]) -> int:
    """The number of outer folders that all paths share."""
    listed = [path.parts for path in paths]
    depth = 0
    while listed and all(
        len(parts) > depth + 1 and parts[depth] == listed[0][depth] for parts in listed
    ):
        depth += 1
    return depth


def common_start(texts: Iterable[str]) -> str:
    """The longest text with which all of several different texts begin; else empty."""
    different = sorted(set(texts))
    if len(different) < 2:
        return ""
    first, last = different[0], different[-1]
    same = 0
    while same < min(len(first), len(last)) and first[same] == last[same]:
        same += 1
    return first[:same]


def endings(text: str, separator: str) -> tuple[str, ...]:
    """The text after each separator, the longest first; at last none is left but the last part."""
    parts = text.split(separator)
    return tuple(separator.join(parts[start:]) for start in range(len(parts)))


def local(moment: datetime, zone: tzinfo) -> datetime:
    """A time with a zone: its own, or else `zone`."""
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)
