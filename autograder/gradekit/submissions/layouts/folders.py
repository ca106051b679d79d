"""Folders and zips that people name: ``<student>/…`` and ``<student>.zip``.

``lab submit`` packs ``<lab>-handin.zip``; staff or students put a name before it. GitHub's
"Download ZIP" is ``<assignment>-<login>-<branch>.zip``, with a folder of that name in it.

Tested in tests/gradekit/submissions/test_who_and_when.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePosixPath

from gradekit.roster.people import Person
from gradekit.submissions.archives import is_zip
from gradekit.submissions.layouts.listing import Entry, Listing, NotTaken, Reader, endings

SYSTEM = "folders"
NO_STUDENT = NotTaken(
    "its path does not name the student; put it into a folder with the student's name"
)
_NAMES_TWO = NotTaken("its path names two students; put it into a folder with one student's name")
_BRANCH = re.compile(r"-(?:main|master)$")
_HAND_IN = r"(?:^|[-_ .]+)(?:hand-?in|\(\d+\))(?=$|[-_ .])"


def reader(listing: Listing) -> Reader:
    """Reads any path in which a folder or a zip is named after a student."""

    def read(path: PurePosixPath) -> Entry | NotTaken:
        parts = path.parts
        for folder, rest in listing.outer(path):
            if listing.knows(folder):
                return _in_folder(folder, rest, folder, listing)
        for depth, (folder, rest) in enumerate(listing.outer(path)):
            if login := _repository_owner(folder, listing):
                if depth < listing.shared and _names_one(rest.parts[0], listing):
                    return _NAMES_TWO
                return _in_folder(login, rest, folder, listing)
        if listing.is_outer_file(path) and is_zip(path):
            return _zip_in(path, listing)
        if len(parts) > 2 and parts[0] == listing.top:
            parts = parts[1:]
        if len(parts) > 1 and parts[0] not in listing.labs:
            return _in_folder(parts[0], PurePosixPath(*parts[1:]), parts[0], listing)
        return NO_STUDENT

    return read


def is_home(folder: str, knows: Callable[[str], bool]) -> bool:
    """Whether a folder is a student's repository; a number in its name may be that of a week."""
    owner_there = _owner_in(folder, knows)
    return bool(owner_there) and not owner_there.isdecimal()


def _in_folder(name: str, rest: PurePosixPath, home: str, listing: Listing) -> Entry | NotTaken:
    """A file in a student's folder, in which each lab may have a folder of its own."""
    lab, *inner = rest.parts
    if not inner or lab not in listing.labs:
        return _of(name, rest, home)
    if lab != listing.lab:
        return NotTaken(f"it is for {lab}")
    return _of(name, PurePosixPath(*inner), home)


def _names_one(name: str, listing: Listing) -> bool:
    """Whether a name in a folder may be that of a student, if the folder may be a class's."""
    return listing.is_of_one(name) or bool(listing.system_of(name))


def _repository_owner(name: str, listing: Listing) -> str:
    """Whose repository of GitHub Classroom a folder without git is; empty if it is nobody's."""
    return _owner_in(name, listing.knows)


def _owner_in(name: str, knows: Callable[[str], bool]) -> str:
    logins = endings(_BRANCH.sub("", name), "-")[1:]
    return next(filter(knows, logins), "")


def _zip_in(path: PurePosixPath, listing: Listing) -> Entry | NotTaken:
    """Whose zip it is, also if it is one that GitHub packed."""
    entry = zip_of(path.name, listing.lab, listing.labs)
    if isinstance(entry, NotTaken) or not _BRANCH.search(path.stem):
        return entry
    login = _repository_owner(path.stem, listing)
    return _of(login, PurePosixPath(path.name), path.name, by_zip=True) if login else entry


def zip_of(name: str, lab: str, labs: tuple[str, ...]) -> Entry | NotTaken:
    """Whose zip it is, from its own name alone."""
    stem = name[: -len(".zip")]
    named = [other for other in labs if re.search(_part(other), stem, re.IGNORECASE)]
    if named and lab not in named:
        return NotTaken(f"it is for {named[0]}")
    student = owner(stem, lab)
    return _of(student, PurePosixPath(name), name, by_zip=True) if student else NO_STUDENT


def owner(stem: str, lab: str) -> str:
    """The student in ``ada-lab01-handin``; empty for ``lab01-handin``."""
    without_lab = re.sub(_part(lab), "", stem, flags=re.IGNORECASE)
    return re.sub(_HAND_IN, "", without_lab, flags=re.IGNORECASE).strip("-_ .")


def _part(lab: str) -> str:
    """The part of a zip's name that says its lab, such as ``-lab01`` or ``_lab01_softmax``."""
    return rf"(?:^|[-_ .]+){re.escape(lab)}\w*(?=$|[-_ .])"


def _of(name: str, path: PurePosixPath, home: str, by_zip: bool = False) -> Entry:
    name = name.strip()
    person = Person(name, logins=(name,), names=(name,), new_id=name)
    return Entry(SYSTEM, (person,), path, home, by_zip=by_zip)
