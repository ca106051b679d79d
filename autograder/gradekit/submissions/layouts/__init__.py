"""Whose file is it? One module for each system, known by the paths that it writes.

A layout sees the list of a source's files, and answers for each path: whose it is, why it
has no student, or that it is not of its kind.

Tested in tests/gradekit/submissions/test_who_and_when.py.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from gradekit.submissions.layouts import (
    blackboard,
    brightspace,
    canvas,
    classroom,
    exchange,
    folders,
    gradescope,
    ilias,
    moodle,
)
from gradekit.submissions.layouts.forms import with_forms
from gradekit.submissions.layouts.listing import Entry, Listing, NotTaken, Reader

# First those that are known by the whole source: in it, names of files are the students'. Folders
# come last: any path that names someone is one.
_LAYOUTS = (
    classroom, ilias, gradescope, exchange, moodle, canvas, blackboard, brightspace, folders
)  # fmt: skip


def reader_of(listing: Listing) -> Reader:
    """A function that says whose each path of a source is; it always has an answer.

    Raises:
        RefusedError: the source's own list of students cannot be read.
    """
    known = with_forms(listing)
    readers = [made for layout in _LAYOUTS if (made := layout.reader(known))]

    def read(path: PurePosixPath) -> Entry | NotTaken | None:
        answers = (reader(path) for reader in readers)
        return next((answer for answer in answers if answer), folders.NO_STUDENT)

    return read
