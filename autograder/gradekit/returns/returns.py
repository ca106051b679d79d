"""``lab return``: which pages go back, to whom, and in which file.

Tested in tests/gradekit/returns/test_returns.py.
"""

from __future__ import annotations

import io
import shutil
import zipfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_never

from gradekit.course import Course
from gradekit.errors import ReturnError
from gradekit.feedback.page import pages, write_page
from gradekit.feedback.views import Page
from gradekit.files import write_whole
from gradekit.results.records import State
from gradekit.returns.exchange import exchange_path, feedback_folder, release_feedback
from gradekit.returns.mail import mail_of
from gradekit.returns.return_paths import (
    NotReturned,
    ReturnPath,
    canvas_path,
    folder_path,
    ilias_path,
    mail_path,
    moodle_path,
)
from gradekit.roster.people import Directory
from gradekit.roster.students import Student, load_roster
from gradekit.submissions.folder import SUBMITTED
from gradekit.submissions.stored import read_origin
from gradekit.wording import counted, first_of

if TYPE_CHECKING:
    from gradekit.feedback.solutions import Solutions  # imports torch

FOLDER = "exports"
_MOST_NAMES = 5  # in one line
_OLDEST = (1980, 1, 1, 0, 0, 0)


class Way(StrEnum):
    """How pages go back to students."""

    MOODLE = "moodle"
    CANVAS = "canvas"
    ILIAS = "ilias"
    EXCHANGE = "exchange"
    MAIL = "mail"
    FOLDER = "folder"

    @property
    def is_zip(self) -> bool:
        """Whether the pages are packed into one file."""
        return self in _PATHS


_PATHS = {Way.MOODLE: moodle_path, Way.CANVAS: canvas_path, Way.ILIAS: ilias_path}


def way_named(name: str) -> Way:
    """The way of this name.

    Raises:
        ReturnError: there is none.
    """
    try:
        return Way(name)
    except ValueError:
        raise ReturnError(f"--as {name}: the ways are {', '.join(Way)}") from None


@dataclass(frozen=True)
class Returned:
    """The pages that go back, and those that do not.

    Attributes:
        file: the zip or the folder.
        paths: by student, where the page is in it.
        held: by student, why the page is not in it.
    """

    lab: str
    way: Way
    file: Path
    paths: Mapping[str, str]
    held: Mapping[str, str]

    def lines(self) -> list[str]:
        """For the terminal: how many pages, and one line for each reason why some are not there."""
        reasons: dict[str, list[str]] = {}
        for student, reason in self.held.items():
            reasons.setdefault(reason, []).append(student)
        count = counted(len(self.paths), "page")
        return [
            f"{self.lab}: {count} for {_WORDS[self.way]}",
            *(
                f"not returned because {reason}: {first_of(who, _MOST_NAMES)}"
                for reason, who in reasons.items()
            ),
        ]

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "lab": self.lab,
            "as": str(self.way),
            "file": str(self.file),
            "returned": [
                {"student": student, "path": path} for student, path in self.paths.items()
            ],
            "held": [
                {"student": student, "reason": reason} for student, reason in self.held.items()
            ],
        }


_WORDS = {
    Way.MOODLE: "Moodle",
    Way.CANVAS: "Canvas",
    Way.ILIAS: "ILIAS",
    Way.EXCHANGE: "nbgrader's exchange",
    Way.MAIL: "mail",
    Way.FOLDER: "folders, one for each student",
}


def return_pages(
    course: Course,
    lab: str,
    way: Way,
    solutions: Solutions | None = None,
    *,
    partial: bool = False,
    out: Path | None = None,
) -> Returned:
    """Write the pages again, and those that may go back into a file for a system.

    Args:
        solutions: as for :func:`gradekit.feedback.page.write_feedback`.
        partial: return pages that are not final, too.
        out: the zip or the folder; by default one in ``exports/``, which is replaced.

    Raises:
        CourseError: nothing was graded yet.
        ReturnError: no page can go back this way, or `out` cannot be written.
    """
    target = _target(course, lab, way, out)
    roster = load_roster(course.root)
    directory = Directory(roster)
    name = f"{lab}.html"
    found: dict[str, ReturnPath] = {}
    contents: dict[str, bytes] = {}
    held: dict[str, str] = {}
    for page in pages(course, lab):
        html = write_page(course, page, solutions).read_bytes()
        known = page.student in roster
        student = roster.student(page.student) if known else Student(page.student, "")
        goes_to = _return_path(course, lab, way, student, name, directory)
        if (reason := _unfinished(page)) and not partial:
            goes_to = NotReturned(reason)
        if isinstance(goes_to, NotReturned):
            held[student.id] = goes_to.reason
            continue
        found[student.id] = goes_to
        contents[student.id] = mail_of(student, page, name, html) if way is Way.MAIL else html
    held |= _not_graded(course, lab, {*found, *held}) | _of_several(found)
    paths = {student: goes_to.path for student, goes_to in found.items() if student not in held}
    returned = Returned(lab, way, target, paths, dict(sorted(held.items())))
    if not paths:
        why = "; ".join(returned.lines()[1:]) or "nothing was handed in"
        raise ReturnError(f"{lab}: no page can go back through {way}: {why}")
    files = {path: contents[student] for student, path in paths.items()}
    if way is Way.EXCHANGE:
        release_feedback(course, lab, files)
    else:
        _write(target, way, files)
    return returned


def _target(course: Course, lab: str, way: Way, out: Path | None) -> Path:
    if way is Way.EXCHANGE:
        if out is not None:
            raise ReturnError("the exchange has a folder of its own; omit --out")
        return feedback_folder(course, lab)
    if out is None:
        return course.root / FOLDER / f"{lab}-pages-{way}{'.zip' if way.is_zip else ''}"
    if way.is_zip and out.exists():
        raise ReturnError(f"{out} is there already; name a new file with --out")
    if not way.is_zip and out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ReturnError(f"{out} is not an empty folder; name a new one with --out")
    return out


def _unfinished(page: Page) -> str:
    """Why a page will change before the marks are final; empty if it will not."""
    if page.state is State.OURS:
        return "the grader failed on it (--partial returns it)"
    return "" if page.is_final else "a part needs manual grading (--partial returns it)"


def _return_path(
    course: Course, lab: str, way: Way, student: Student, name: str, directory: Directory
) -> ReturnPath | NotReturned:
    match way:
        case Way.MOODLE | Way.CANVAS | Way.ILIAS:
            origin = read_origin(course.root, student.id, lab)
            return _PATHS[way](student, origin, name, directory)
        case Way.EXCHANGE:
            return exchange_path(course, lab, student)
        case Way.MAIL:
            return mail_path(student)
        case Way.FOLDER:
            return folder_path(student, name)
        case unknown:
            assert_never(unknown)


def _not_graded(course: Course, lab: str, known: set[str]) -> dict[str, str]:
    """Hand-ins that have no page."""
    handed_in = {folder.parent.name for folder in course.root.glob(f"{SUBMITTED}/[!.]*/{lab}")}
    reason = f"it is not graded yet (`lab grade {lab}` does that)"
    return dict.fromkeys(sorted(handed_in - known), reason)


def _of_several(found: Mapping[str, ReturnPath]) -> dict[str, str]:
    """Pages of several students with one recipient: each of them would see the others'."""
    counts = Counter(goes_to.recipient for goes_to in found.values())
    counts += Counter(goes_to.path.casefold() for goes_to in found.values())
    return {
        student: "several students would see it"
        for student, goes_to in found.items()
        if counts[goes_to.recipient] > 1 or counts[goes_to.path.casefold()] > 1
    }


def _write(target: Path, way: Way, contents: Mapping[str, bytes]) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if way.is_zip:
            write_whole(target, _packed(contents))
            return
        # A page of an earlier run must not stay, because its student may have gone.
        shutil.rmtree(target, ignore_errors=True)
        for path, data in contents.items():
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            write_whole(target / path, data)
    except OSError as error:
        raise ReturnError(f"{target} cannot be written: {error.strerror}") from error


def _packed(contents: Mapping[str, bytes]) -> bytes:
    """A zip; the same pages give the same bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in contents.items():
            entry = zipfile.ZipInfo(path, _OLDEST)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return out.getvalue()
