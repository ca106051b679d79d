"""Moodle's "Download all submissions": one folder per student, or all files in one.

``<full name>_<number>_assignsubmission_file/…``, or the same as the beginning of a file's name
(mod/assign/classes/downloader.php); plugins write their own names there (s3, onlyoffice).
Underscores in a name become spaces; clean_filename drops some signs, such as an apostrophe. The
number belongs to one assignment (table assign_user_mapping): the same student has another one next
week. Some universities' versions write the login before the name, with a space where it was joined
by an underscore (assign_prefixwithusername). Before Moodle 4.1, the hand-ins of one group have its
name and a hyphen before each name (mod/assign/locallib.php: download_submissions). With hidden
names, every name is "Participant". The dates in the zip are those of the download.

Tested in tests/gradekit/submissions/test_who_and_when.py.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from gradekit.roster.moodle_words import LANGUAGES
from gradekit.roster.people import Person
from gradekit.submissions.layouts.listing import Entry, Listing, NotTaken, Reader, common_start

SYSTEM = "Moodle"
_HOME = re.compile(r"(?P<name>.+?)_(?P<number>\d+)_assignsubmission_(?P<kind>[a-z0-9]+)")
# Moodle's clean_filename leaves out the slash in the German word.
_HIDDEN = {words.hidden.replace("/", "") for words in LANGUAGES.values()} | {"teilnehmer"}
_MOST_PARTS_OF_A_LOGIN = 3
_FEWEST_OF_A_GROUP = 3  # names; two may begin alike by chance, such as Anna-Lena and Anna-Maria
_NAMELESS = (
    "Moodle hides the names of this assignment; reveal them, or give its grading worksheet "
    "with --times"
)


def written(name: str) -> int:
    """How many letters of a name Moodle wrote at its beginning; 0 if it is not Moodle's."""
    match = _HOME.match(name)
    return match.end() if match else 0


def reader(listing: Listing) -> Reader:
    """Reads paths of both of Moodle's forms."""
    matches = (_match(path, listing) for path in listing.paths)
    group = _group({found[0]["name"] for found in matches if found})

    def read(path: PurePosixPath) -> Entry | NotTaken | None:
        found = _match(path, listing)
        return _entry(*found, group) if found else None

    return read


def _match(
    path: PurePosixPath, listing: Listing
) -> tuple[re.Match[str], PurePosixPath, str] | None:
    """The parts of a name by Moodle, the student's own path, and the folder or its likeness."""
    for folder, rest in listing.outer(path):
        if match := _HOME.match(folder):
            return (match, rest, folder) if folder[match.end() :] in ("", "_") else None
    if not listing.is_outer_file(path) or listing.system_of(path.name) != SYSTEM:
        return None
    if match := _HOME.match(path.name):
        own = path.name[match.end() :].lstrip("_") or path.name
        return match, PurePosixPath(own), match[0]
    return None


def _group(names: set[str]) -> str:
    """``Mon-``, if all names begin with the group for which the hand-ins were downloaded."""
    start = common_start(names) if len(names) >= _FEWEST_OF_A_GROUP else ""
    return start[: start.rfind("-") + 1]


def _entry(match: re.Match[str], path: PurePosixPath, home: str, group: str) -> Entry | NotTaken:
    if match["kind"] == "onlinetext":
        return NotTaken("it is text from Moodle's editor, not a file")
    name, number = match["name"], match["number"]
    own = name.removeprefix(group)
    nameless = _NAMELESS if is_hidden(name) else ""
    person = Person(
        name,
        names=tuple(dict.fromkeys((name, own))),
        new_id=f"{own}_{number}" if nameless else own,
        nameless=nameless,
        logins_with_names=logins_with_names(own),
    )
    return Entry(SYSTEM, (person,), path, home, key=number, dated=False)


def is_hidden(name: str) -> bool:
    """Whether this is what stands for every name, perhaps after a group."""
    return name.rpartition("-")[2].casefold() in _HIDDEN or name.casefold() in _HIDDEN


def logins_with_names(text: str) -> tuple[tuple[str, str], ...]:
    """The ways to split a text into a login and a name; underscores of the login are spaces."""
    words = text.split(" ")
    ends = range(1, min(len(words), _MOST_PARTS_OF_A_LOGIN + 1))
    return tuple(("_".join(words[:end]), " ".join(words[end:])) for end in ends)
