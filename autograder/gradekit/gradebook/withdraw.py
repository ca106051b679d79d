"""``lab withdraw``: take one hand-in out again, everywhere.

The files that were handed in are kept in ``withdrawn/``. Tested in
tests/gradekit/gradebook/test_withdraw.py.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from gradekit.course import Course
from gradekit.errors import CollectError
from gradekit.gradebook.address import Address, address_of
from gradekit.gradebook.marks import Marks
from gradekit.results.folder import journal_path
from gradekit.results.journal import Journal
from gradekit.roster.students import load_roster
from gradekit.submissions.folder import SUBMITTED
from gradekit.submissions.stored import origin_path
from gradekit.wording import did_you_mean

WITHDRAWN = "withdrawn"
_MADE_FROM_IT = ("autograded", "feedback")
_LOCK_SECONDS = 10.0


@dataclass(frozen=True)
class Withdrawn:
    """What was taken out.

    Attributes:
        kept: where the handed-in files are now; None if there were none.
        removed: the folders and entries that are gone, for people.
    """

    kept: Path | None
    removed: tuple[str, ...]


def withdraw(course: Course, lab: str, student: str, force: bool = False) -> Withdrawn:
    """Take a student's hand-in for `lab` out of ``submitted/``, the results and the gradebook.

    Args:
        force: even if manual marks or comments are lost with it.

    Raises:
        CollectError: there is no such hand-in, or it was marked manually and `force` is not set.
        JournalLockedError: it is being graded.
    """
    course.lab(lab)
    if not student or Path(student).name != student or student.startswith("."):
        raise CollectError(f"{student!r} is not a student's id; write one such as ada")
    folder = course.root / SUBMITTED / student / lab
    made = [path for top in _MADE_FROM_IT if (path := course.root / top / student / lab).exists()]
    path, address = journal_path(course, lab), address_of(course)
    with Journal(path, wait=_LOCK_SECONDS) if path.is_file() else nullcontext() as journal:
        is_recorded = journal is not None and journal.submission(student) is not None
        marks = _marks_of(address, lab, student)
        if not (folder.exists() or made or is_recorded or marks):
            raise CollectError(_nothing(course, lab, student))
        manual = _manual_marks(marks) if marks else 0
        if manual and not force:
            raise CollectError(
                f"{student} has {manual} manual marks or comments for {lab}, which would "
                "be lost; add --force to withdraw the hand-in anyway"
            )
        removed = []
        if marks:
            _remove_from(address, lab, student)
            removed.append(f"the points in {_shown(address, course)}")
        if is_recorded:
            assert journal is not None
            journal.withdraw(student)
            removed.append(f"the result in {path.relative_to(course.root)}")
        for one in made:
            shutil.rmtree(one)
            removed.append(str(one.relative_to(course.root)))
        origin_path(course.root, student, lab).unlink(missing_ok=True)
        kept = _keep(course.root, folder, student, lab) if folder.exists() else None
    for empty in (folder.parent, *(one.parent for one in made)):
        if empty.is_dir() and not any(empty.iterdir()):
            empty.rmdir()
    return Withdrawn(kept, tuple(removed))


def _shown(address: Address, course: Course) -> str:
    """The gradebook: its path in the course's folder, or the address of a database."""
    file = address.file
    if file is None or not file.is_relative_to(course.root):
        return address.shown
    return str(file.relative_to(course.root))


def _keep(root: Path, folder: Path, student: str, lab: str) -> Path:
    """Move what was handed in to ``withdrawn/``, next to anything that is there."""
    base = root / WITHDRAWN / student
    base.mkdir(parents=True, exist_ok=True)
    target = next(path for path in _numbered(base / lab) if not path.exists())
    shutil.move(folder, target)
    return target


def _numbered(path: Path) -> Iterator[Path]:
    yield path
    number = 2
    while True:
        yield path.with_name(f"{path.name}-{number}")
        number += 1


def _marks_of(address: Address, lab: str, student: str) -> Marks | None:
    if address.file is not None and not address.file.is_file():
        return None
    from gradekit.gradebook.gradebook import Book

    with Book(address) as book:
        return book.marks(lab).get(student)


def _remove_from(address: Address, lab: str, student: str) -> None:
    from gradekit.gradebook.gradebook import Book

    with Book(address) as book:
        book.remove(lab, student)


def _manual_marks(marks: Marks) -> int:
    given = [m for m in marks.marks.values() if m.manual is not None or m.extra]
    return len(given) + len(marks.comments)


def _nothing(course: Course, lab: str, student: str) -> str:
    base = course.root / SUBMITTED
    known = {path.parent.name for path in base.glob(f"*/{lab}")}
    if question := did_you_mean(student, known, 3):
        hint = f"; {question}"
    elif student in load_roster(course.root):
        hint = ", so there is nothing to withdraw"
    else:
        hint = f"; {len(known)} students have handed it in"
    return f"there is no hand-in of {student!r} for {lab}{hint}"
