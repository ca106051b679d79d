"""Which names did a system write? What follows such a name in a path is the student's own.

A student may write the form of any system into a name of a file or of an inner folder. So the first
folder that has a form is the system's, and of the forms that a file's name has, the one that ends
first. All further ones are in the student's part.

Tested in tests/gradekit/submissions/test_forged_names.py.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from gradekit.submissions.layouts import (
    blackboard,
    brightspace,
    canvas,
    exchange,
    folders,
    gradescope,
    ilias,
    moodle,
)
from gradekit.submissions.layouts.listing import Listing

_IN_ONE_FOLDER = (moodle, canvas, blackboard, brightspace)


def with_forms(listing: Listing) -> Listing:
    """The same listing, which knows the systems' forms."""

    @cache
    def is_home(folder: str) -> bool:
        return (
            gradescope.is_home(folder)
            or exchange.is_home(folder, listing.zone)
            or _is_begun(folder, listing)
            or ilias.is_home(folder, listing.knows)
            or folders.is_home(folder, listing.knows)
        )

    return replace(listing, is_home=is_home, system_of=cache(_system_of))


def _system_of(name: str) -> str:
    """The system whose part of a file's name ends first; empty if the name has no form."""
    ends = {layout.SYSTEM: end for layout in _IN_ONE_FOLDER if (end := layout.written(name))}
    return min(ends, key=lambda system: ends[system], default="")


def _is_begun(folder: str, listing: Listing) -> bool:
    """Whether a system wrote a folder's name, or that of a zip that was unpacked into it.

    Canvas's form alone may be that of a date, as in lab01_2026_09_22_download.
    """
    system = _system_of(folder)
    if system == canvas.SYSTEM:
        start = canvas.start_of(folder)
        return start is not None and listing.knows_canvas_id(start.user)
    return bool(system)
