"""Moodle's "Download all submissions": one folder per student, or all files in one.

``<full name>_<number>_assignsubmission_file/…``, or the same as the beginning of a file's name
(mod/assign/classes/downloader.php); plugins write their own names there (s3, onlyoffice).
Underscores in a name become spaces; clean_filename drops some signs, such as an apostrophe. The
number belongs to one assignment (table assign_user_mapping): the same student has another one next
week. Some universities' versions write the login before the name, with a space where it was joined
by an underscore (assign_prefixwithusername). With hidden names, every name is "Participant". The
dates in the zip are those of the download.

Tested in tests/gradekit/submissions/test_who_and_when.py.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from gradekit.roster.moodle_words import LANGUAGES
from gradekit.roster.people import Person
from gradekit.submissions.layouts.listing import Entry, Listing, NotTaken, Reader

SYSTEM = "Moodle"
_HOME = re.compile(r"(?P<name>.+?)_(?P<number>\d+)_assignsubmission_(?P<kind>[a-z0-9]+)")
# Moodle's clean_filename leaves out the slash in the German word.
HIDDEN = {words.hidden.replace("/", "") for words in LANGUAGES.values()} | {"teilnehmer"}
_MOST_PARTS_OF_A_LOGIN = 3
_NAMELESS = (
    "Moodle hides the names of this assignment; reveal them, or give its grading worksheet "
    "with --times"
)


def reader(listing: Listing) -> Reader:
    """Reads paths of both of Moodle's forms."""

    def read(path: PurePosixPath) -> Entry | NotTaken | None:
        for folder, rest in listing.outer(path):
            if match := _HOME.match(folder):
                if folder[match.end() :] in ("", "_"):
                    return _entry(match, rest, folder)
                return None
        if listing.is_outer_file(path) and (match := _HOME.match(path.name)):
            own = path.name[match.end() :].lstrip("_") or path.name
            return _entry(match, PurePosixPath(own), match[0])
        return None

    return read


def _entry(match: re.Match[str], path: PurePosixPath, home: str) -> Entry | NotTaken:
    if match["kind"] == "onlinetext":
        return NotTaken("it is text from Moodle's editor, not a file")
    name, number = match["name"], match["number"]
    nameless = _NAMELESS if name.casefold() in HIDDEN else ""
    person = Person(
        name,
        names=(name,),
        new_id=f"{name}_{number}" if nameless else name,
        nameless=nameless,
        logins_with_names=logins_with_names(name),
    )
    return Entry(SYSTEM, (person,), path, home, key=number, dated=False)


def logins_with_names(text: str) -> tuple[tuple[str, str], ...]:
    """The ways to split a text into a login and a name; underscores of the login are spaces."""
    words = text.split(" ")
    ends = range(1, min(len(words), _MOST_PARTS_OF_A_LOGIN + 1))
    return tuple(("_".join(words[:end]), " ".join(words[end:])) for end in ends)
