"""GitHub Classroom: a folder of clones, ``<assignment>-<login>/``, as ``gh classroom clone`` makes.

A folder is a clone if it has git's own folder in it. Dates of files are those of the clone; the
time is that of the last commit. Assignments and logins may contain hyphens.

Tested in tests/gradekit/submissions/test_who_and_when.py.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path, PurePosixPath

from gradekit.roster.people import Person
from gradekit.submissions.git_commit import time_of_last_commit
from gradekit.submissions.layouts.listing import (
    Entry,
    Listing,
    NotTaken,
    Reader,
    common_start,
    endings,
)
from gradekit.submissions.times import NO_TIME, HandInTime, TimeSource

SYSTEM = "GitHub"


def reader(listing: Listing) -> Reader | None:
    """Reads paths of clones, if the source is a folder of them."""
    if listing.folder is None:
        return None
    clones = {home: folder for home, folder in _outer_folders(listing) if _is_clone(folder)}
    if not clones:
        return None
    start = common_start(PurePosixPath(home).name for home in clones)
    assignment = start[: start.rfind("-") + 1]

    @cache
    def time(home: str) -> HandInTime:
        when = time_of_last_commit(clones[home] / ".git")
        return HandInTime(when, TimeSource.COMMIT) if when else NO_TIME

    def read(path: PurePosixPath) -> Entry | NotTaken | None:
        home = next((str(p) for p in reversed(path.parents) if str(p) in clones), None)
        if home is None:
            return None
        name = PurePosixPath(home).name
        login = name.removeprefix(assignment)
        if not assignment:
            login = endings(name, "-")[-1]
        logins = tuple(text for text in endings(name, "-") if len(text) >= len(login))
        person = Person(login, logins, new_id=login)
        rest = path.relative_to(home)
        if any(part.startswith(".") for part in rest.parts):
            return NotTaken("it is a setting of the repository", expected=True)
        return Entry(SYSTEM, (person,), rest, home, time=time(home), dated=False)

    return read


def _outer_folders(listing: Listing) -> set[tuple[str, Path]]:
    assert listing.folder is not None
    found = set()
    for path in listing.paths:
        for depth, _ in enumerate(listing.outer(path), start=1):
            home = PurePosixPath(*path.parts[:depth])
            found.add((str(home), listing.folder / home))
    return found


def _is_clone(folder: Path) -> bool:
    inner = folder / ".git"
    return inner.is_dir() and not inner.is_symlink() and (inner / "HEAD").is_file()
