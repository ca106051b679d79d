"""Where a page goes: its path in the file for a system, and whom that system shows it to.

A system reads the recipient from the path. So a path is made from what the system wrote itself when
the hand-in was downloaded, and it is refused where the system could read another recipient from it.

Tested in tests/gradekit/returns/test_returns.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from gradekit.roster.people import Directory, Person
from gradekit.roster.students import Student
from gradekit.submissions.folder import is_notebook
from gradekit.submissions.layouts import canvas, ilias, moodle
from gradekit.submissions.stored import Origin

# Python's email decodes "=?…?=", which may hold the end of a line.
_ADDRESS = re.compile(r"(?!.*=\?)[^@\s,;:<>()\[\]\"]+@[^@\s,;:<>()\[\]\"]+")


@dataclass(frozen=True)
class ReturnPath:
    """Where one student's page goes.

    Attributes:
        path: in the zip or the folder.
        recipient: whom the system shows it to, in its own words; no two students share it.
    """

    path: str
    recipient: str


@dataclass(frozen=True)
class NotReturned:
    """A page that cannot go this way, and why: the end of a sentence that begins with "ada: "."""

    reason: str


def moodle_path(
    student: Student, origin: Origin | None, page: str, directory: Directory
) -> ReturnPath | NotReturned:
    """The path in the zip for "Upload multiple feedback files in a zip".

    Moodle splits a folder's name, or else a file's, at underscores: name, number, plugin type and
    plugin; the number alone tells the person. Source: moodle, mod/assign/feedback/file/
    importziplib.php: is_valid_filename_for_import.
    """
    if (wrong := _wrong_origin(origin, moodle.SYSTEM)) or origin is None:
        return NotReturned(wrong)
    parts = origin.home.split("_", 4)
    if len(parts) < 4 or parts[1] != origin.key or parts[2:4] != ["assignsubmission", "file"]:
        return NotReturned(f"Moodle would not know whose {origin.home!r} is")
    name = parts[0]
    own = name.removeprefix(f"{student.section}-")  # older versions write the group before it
    person = Person(name, names=(own,), logins_with_names=moodle.logins_with_names(own))
    if not moodle.is_hidden(name) and (
        wrong := _wrong_name(directory, person, student, moodle.SYSTEM)
    ):
        return NotReturned(wrong)
    in_folder = any(origin.home in PurePosixPath(path).parts for path in origin.files.values())
    return ReturnPath(f"{origin.home}{'/' if in_folder else '_'}{page}", origin.key)


def canvas_path(
    student: Student, origin: Origin | None, page: str, directory: Directory
) -> ReturnPath | NotReturned:
    """The path in the zip for "Upload Submissions" ("Re-Upload Student Submissions").

    Canvas splits a file's name at underscores and takes the first two numbers: the user and a file
    that this user handed in. Source: canvas-lms, app/models/abstract_assignment.rb:
    infer_comment_context_from_filename.
    """
    if (wrong := _wrong_origin(origin, canvas.SYSTEM)) or origin is None:
        return NotReturned(wrong)
    path = _main_file(origin)
    start = canvas.start_of(path.name)
    if start is None:
        return NotReturned(f"Canvas would not know whose {path.name!r} is")
    if start.numbers_as_canvas_reads_them != (start.user, start.attachment):
        return NotReturned(f"Canvas would read other numbers from {path.name!r}")
    known = directory.find(Person(start.user, canvas_id=start.user))
    if isinstance(known, Student) and known.id != student.id:
        return NotReturned(
            f"the number in Canvas's download is that of {known.id}; correct students.csv"
        )
    person = Person(start.name, names=(start.name,))
    if start.name and (wrong := _wrong_name(directory, person, student, canvas.SYSTEM)):
        return NotReturned(wrong)
    return ReturnPath(f"{start.text}_{page}", start.user)


def ilias_path(
    student: Student, origin: Origin | None, page: str, directory: Directory
) -> ReturnPath | NotReturned:
    """The path in the zip for "Multi-Feedback".

    ILIAS takes the folder whose name begins with multi_feedback, and in it the folders of members;
    the number at the end of a name tells the member. Source: ILIAS, Modules/Exercise/classes/
    class.ilExAssignment.php: getMultiFeedbackFiles.
    """
    if (wrong := _wrong_origin(origin, ilias.SYSTEM)) or origin is None:
        return NotReturned(wrong)
    person = ilias.person_of(origin.home)
    if person is None or not origin.home.endswith(f"_{origin.key}"):
        return NotReturned(f"ILIAS would not know whose {origin.home!r} is")
    found = directory.find(person)
    if not isinstance(found, Student) or found.id != student.id:
        whose = f"that of {found.id}" if isinstance(found, Student) else found.reason
        return NotReturned(f"{origin.home!r} in ILIAS's download is {whose}; correct students.csv")
    return ReturnPath(f"multi_feedback/{origin.home}/{page}", origin.key)


def folder_path(student: Student, page: str) -> ReturnPath:
    """A folder for each student."""
    return ReturnPath(f"{student.id}/{page}", student.id)


def mail_path(student: Student) -> ReturnPath | NotReturned:
    """A message to the student's address."""
    if not student.email:
        return NotReturned("students.csv has no email address")
    if not _ADDRESS.fullmatch(student.email):
        return NotReturned(f"{student.email!r} is not an email address; correct students.csv")
    return ReturnPath(f"{student.id}.eml", student.email.casefold())


def _wrong_origin(origin: Origin | None, system: str) -> str:
    """Why a hand-in that came from elsewhere, or from a group, cannot go back; empty if it can."""
    if origin is None:
        return f"the hand-in did not come from {system}"
    if origin.system != system:
        return f"the hand-in came from {origin.system}"
    if origin.group:
        return f"{system} would show it to the whole group {origin.group!r}"
    return ""


def _wrong_name(directory: Directory, person: Person, student: Student, system: str) -> str:
    """Why the person in a path is not the student whose page it is; empty if it is.

    It may be a group's, although the groups were not told when the hand-ins were collected.
    """
    found = directory.find(person)
    is_found = isinstance(found, Student) and found.id == student.id
    if is_found or directory.is_called(student, person.shown):
        return ""
    whose = "not the name of the student with this number"
    if isinstance(found, Student):
        whose = f"that of {found.id}"
    return (
        f"the name {person.shown!r} in {system}'s download is {whose}; it may be a group's, so use "
        "mail or folders, or correct students.csv"
    )


def _main_file(origin: Origin) -> PurePosixPath:
    """Where the notebook was in the source, or else the first file."""
    notebooks = [name for name in origin.files if is_notebook(name)]
    names = notebooks or list(origin.files) or [""]
    return PurePosixPath(origin.files.get(min(names), ""))
