"""ILIAS's "Download all submissions": a folder for each student, some folders down.

``<title>/<submissions>/<last name>_<first name>_<login>_<number>/…`` (Modules/Exercise/classes/
class.ilExSubmission.php: downloadAllAssignmentFiles), in ASCII (ilUtil::getASCIIFilename): a letter
that it cannot write becomes an underscore for each of its bytes. Names and logins may contain
underscores, too, and a first name may be missing. A late file begins with "Late Submission - " in
the language of the course. A file that was handed in again ends with " (2)". Dates of files are
those of the upload, but from ILIAS 10 on (components/ILIAS/Exercise/Submission/
SubmissionManager.php: copySubmissionFilesToDir) those of the download. In an assignment for teams,
the folder of the member who handed in is in a folder ``Team <number>``, and the other members are
not in the download. The plugin ExerciseStatusFile adds notes: user_info.json and others beside the
folders, and a user_info.txt in each of them, even if its student handed in nothing.

Tested in tests/gradekit/submissions/test_who_and_when.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePosixPath

from gradekit.roster.people import Person, squeezed
from gradekit.submissions.layouts.listing import Entry, Listing, NotTaken, Reader, endings
from gradekit.submissions.times import NO_TIME, HandInTime, TimeSource

SYSTEM = "ILIAS"
_HOME = re.compile(r"(?P<who>[^_]*_[^_]*_.+)_(?P<number>\d+)")
_TEAM = re.compile(r"Team (?P<number>\d+)")
_PACKED = 2  # folders in the zip above those of students
_DEEPEST = 4  # the two of ILIAS, and folders that the download was unpacked into
_LATE = re.compile(r"^(?:Late Submission|Versp(?:ä|ae?)tete (?:Abgabe|Einreichung)) - ")
_NOTES_OF_PLUGIN = ("user_info.json", "user_info.txt")  # of everyone, and of one student
_ALL_OF_PLUGIN = "multi_feedback"  # its folder of all students' begins so
_AGAIN = re.compile(r" \((?P<number>\d+)\)(?=\.[^.]+$)")


def reader(listing: Listing) -> Reader | None:
    """Reads paths of ILIAS's folders, if every notebook and zip is in one of them."""
    depth = next((d for d in range(_DEEPEST) if _all_at(d, listing)), None)
    if depth is None:
        return None
    version_of = _versions(listing)
    everyone, of_one = _NOTES_OF_PLUGIN
    has_notes = any(path.name == everyone and listing.is_outer_file(path) for path in listing.paths)

    def read(path: PurePosixPath) -> Entry | NotTaken | None:
        team = _TEAM.fullmatch(path.parts[depth]) if len(path.parts) > depth else None
        at = depth + 1 if team else depth
        match = _home(path, at)
        if match is None:
            return NotTaken("it is outside the students' folders", expected=True)
        if has_notes and path.parts[at + 1 :] == (of_one,):
            return NotTaken("it is a note about the student", expected=True)
        name, version = version_of(path)
        is_late = _LATE.match(path.name)
        return Entry(
            SYSTEM,
            (_person(match),),
            PurePosixPath(*path.parts[at + 1 : -1], name),
            path.parts[depth],
            key=f"team {team['number']}" if team else match["number"],
            group=team[0] if team else "",
            time=HandInTime(None, TimeSource.MARKED_LATE) if is_late else NO_TIME,
            version=version,
        )

    return read


def _versions(listing: Listing) -> Callable[[PurePosixPath], tuple[str, int]]:
    """A function from a path to the file's own name, and how often it was handed in until then."""
    there = {path.with_name(_own_name(path)) for path in listing.paths}

    def version_of(path: PurePosixPath) -> tuple[str, int]:
        name = _own_name(path)
        again = _AGAIN.search(name)
        first = _AGAIN.sub("", name)
        # A student may give a file such a name, too; then there is none without the number.
        if again and path.with_name(first) in there:
            return first, int(again["number"])
        return name, 1

    return version_of


def _own_name(path: PurePosixPath) -> str:
    return _LATE.sub("", path.name) or path.name


def person_of(home: str) -> Person | None:
    """Who a folder of this name belongs to; None if ILIAS did not write it."""
    match = _HOME.fullmatch(home)
    return _person(match) if match else None


def is_home(folder: str, knows: Callable[[str], bool]) -> bool:
    """Whether ILIAS gives such a name to the folder of a student who is known."""
    person = person_of(folder)
    if person is None:
        return False
    guesses = (login for login, _ in person.guesses)
    return any(map(knows, (*person.logins, *person.names, *guesses)))


def _person(match: re.Match[str]) -> Person:
    who = match["who"]
    parts = endings(who, "_")
    names = tuple(_name(who, login) for login in parts[1:])
    unwritten = "" in who.split("_")  # then nobody can say where the login begins
    guesses = tuple((login, squeezed(_name(who, login))) for login in parts[2:] if login)
    return Person(
        who,
        logins=parts[2:3],
        guesses=guesses if unwritten else (),
        names=names,
        new_id=f"{who}_{match['number']}",
    )


def _all_at(depth: int, listing: Listing) -> bool:
    above = {path.parts[:depth] for path in listing.hand_ins}
    if any(_is_of_one(folders, listing) for folders in above):
        return False
    homes = [_home_in_team(path, depth) or _home(path, depth) for path in listing.hand_ins]
    found = {home[0] for home in homes if home}
    if not homes or not all(homes):
        return False
    # The only folder of a download may be called so by chance (gradebook_CS101_Lab1_2026), but not
    # at the place where ILIAS packs it.
    is_packed = depth == _PACKED and listing.folder is None
    return is_packed or len(found) > 1 or any(is_home(home, listing.knows) for home in found)


def _is_of_one(above: tuple[str, ...], listing: Listing) -> bool:
    """Whether one of these folders is a student's, so the next one has the student's own name.

    The title of the exercise, two above the students' folders, may have their form.
    """
    may_be_titles = above[-2:-1]
    return any(
        listing.is_of_one(folder)
        or (
            _HOME.fullmatch(folder)
            and folder not in may_be_titles
            and not folder.lower().startswith(_ALL_OF_PLUGIN)
        )
        for folder in above
    )


def _home_in_team(path: PurePosixPath, at: int) -> re.Match[str] | None:
    in_team = len(path.parts) > at and _TEAM.fullmatch(path.parts[at])
    return _home(path, at + 1) if in_team else None


def _home(path: PurePosixPath, at: int) -> re.Match[str] | None:
    """The student's folder, if a path has one at this place."""
    return _HOME.fullmatch(path.parts[at]) if len(path.parts) > at + 1 else None


def _name(who: str, login: str) -> str:
    """The part before the login, with spaces."""
    return who[: len(who) - len(login)].rstrip("_").replace("_", " ")
