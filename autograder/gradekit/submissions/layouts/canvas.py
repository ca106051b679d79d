"""Canvas's "Download Submissions": all files in one folder.

``<sortable name>[_LATE]_<user>_<attachment>_<file>``, and with anonymous marking
``[LATE_]anon_<code>_<attachment>_<file>`` (lib/content_zipper.rb: get_filename). The name is in
lower case and has only letters, digits and underscores; that of a group may end like a number that
Canvas wrote (team_2). A text or a link that was typed in ends
with ``_text.html`` or ``_link.html``. A file that was handed in again has a number at its end. The
dates in the zip are those of the download, and LATE does not say how late. From a quiz, the files
are ``<name><user>_question_<question>_<attachment>_<file>`` (quiz_submission_zipper.rb), and none
says that it is late. A student may write any of these forms into the file's own name, so the first
two numbers decide, and a quiz is known by all files of the source together.

Tested in tests/gradekit/submissions/test_who_and_when.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from gradekit.roster.people import Person
from gradekit.submissions.layouts.listing import Entry, Listing, NotTaken, Reader
from gradekit.submissions.times import NO_TIME, HandInTime, TimeSource

SYSTEM = "Canvas"
_NAMED = r"(?P<name>[^/]+?)(?P<late>_LATE)?_(?P<user>\d+)"
_HIDDEN = r"(?P<late>LATE_)?(?P<code>anon_[A-Za-z0-9]+)"
_FILE = r"_(?P<file>\d+)_(?P<rest>.+)"
_NUMBERED = r"(?P<name>[^/]+?_\d+)_(?P<user>\d+)"
_OF_A_QUIZ = re.compile(r"(?P<name>[^/]*?)(?P<user>\d+)_question")
_WITH_NAME, _WITHOUT = re.compile(_NAMED + _FILE), re.compile(_HIDDEN + _FILE)
_WITH_NUMBERED_NAME = re.compile(_NUMBERED + _FILE)
_TYPED = re.compile(rf"(?:{_HIDDEN.replace('?P<late>', '')}|.+_\d+)_(text|link)\.html")
_AGAIN = re.compile(r"-(\d+)(?=\.(?:ipynb|zip)$)", re.IGNORECASE)
_NAMELESS = "Canvas hides the names; turn off anonymous grading and download again"


@dataclass(frozen=True)
class Start:
    """The part of a file's name that Canvas wrote.

    Attributes:
        name: of the student, or of the group; empty if names are hidden.
        user: the number of the user in Canvas, or a code if names are hidden.
        attachment: the number of the file.
    """

    text: str
    name: str
    user: str
    attachment: str

    @property
    def numbers_as_canvas_reads_them(self) -> tuple[str, ...]:
        """The user and the attachment that Canvas takes from a file with this start."""
        parts = [part for part in self.text.split("_") if part != "LATE"]
        if parts[0] == "anon":
            return "_".join(parts[:2]), *parts[2:3]
        return tuple([part for part in parts if part.isdecimal()][:2])


def start_of(name: str) -> Start | None:
    """What Canvas wrote in front of the student's own name of a file of an assignment, or None."""
    match = _WITHOUT.fullmatch(name) or _WITH_NAME.fullmatch(name)
    if match is None or _in_a_quiz(match):
        return None
    text = match.string[: match.start("rest") - 1]
    if match.re is _WITHOUT:
        return Start(text, "", match["code"], match["file"])
    return Start(text, match["name"], match["user"], match["file"])


def written(name: str) -> int:
    """How many letters of a name Canvas wrote at its beginning; 0 if it is not Canvas's."""
    if match := _WITHOUT.fullmatch(name) or _WITH_NAME.fullmatch(name):
        return match.start("rest")
    return len(name) if _TYPED.fullmatch(name) else 0


def reader(listing: Listing) -> Reader:
    """Reads names of Canvas's files."""

    def is_ours(path: PurePosixPath) -> bool:
        return listing.is_outer_file(path) and listing.system_of(path.name) == SYSTEM

    named = [_WITH_NAME.fullmatch(path.name) for path in listing.hand_ins if is_ours(path)]
    is_quiz = all(match and _in_a_quiz(match) for match in named)

    def read(path: PurePosixPath) -> Entry | NotTaken | None:
        if not is_ours(path):
            return None
        if match := _WITHOUT.fullmatch(path.name):
            code = match["code"]
            person = Person(code, new_id=code, nameless=_NAMELESS)
        elif match := _WITH_NAME.fullmatch(path.name):
            quiz = _in_a_quiz(match) if is_quiz else None
            match = match if quiz else _as_known(match, listing)
            name, user = (quiz or match)["name"], (quiz or match)["user"]
            person = Person(name, names=(name,), canvas_id=user, new_id=f"{name}_{user}")
        elif _TYPED.fullmatch(path.name):
            return NotTaken("it is text or a link that was typed into Canvas, not a file")
        else:
            return None
        again = _AGAIN.search(match["rest"])
        return Entry(
            SYSTEM,
            (person,),
            PurePosixPath(_AGAIN.sub("", match["rest"])),
            match[0][: match.start("file")].rstrip("_"),
            time=HandInTime(None, TimeSource.MARKED_LATE)
            if match.groupdict().get("late")
            else NO_TIME,
            version=int(again[1]) if again else 0,
            dated=False,
        )

    return read


def _in_a_quiz(match: re.Match[str]) -> re.Match[str] | None:
    """The name and the number of a user, if what was taken for a name ends like those of a quiz.

    Then the two numbers are those of the question and of the file, and no file is marked as late.
    """
    is_named = match.re is _WITH_NAME and not match["late"]
    return _OF_A_QUIZ.fullmatch(match["name"]) if is_named else None


def _as_known(match: re.Match[str], listing: Listing) -> re.Match[str]:
    """The parts of a file's name; of two ways to read it, the one with the number of a student.

    The second way takes the first number as the end of the group's name, and nothing more: what
    follows the attachment is the student's own text.
    """
    if listing.knows_canvas_id(match["user"]):
        return match
    other = _WITH_NUMBERED_NAME.fullmatch(match.string)
    if other and other.start("user") == match.start("file") and not match["late"]:
        return other if listing.knows_canvas_id(other["user"]) else match
    return match
