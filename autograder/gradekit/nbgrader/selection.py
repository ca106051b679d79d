"""What ``nbgrader autograde`` has to do: what ``lab grade`` would.

nbgrader by itself grades a hand-in if ``autograded/`` has no folder for it, or an older time stamp.
It leaves out whoever renamed the notebook, and lets an old score stand where the answers, an
exercise or the gradebook changed and no time stamp did.
"""

from __future__ import annotations

import os
from dataclasses import replace
from fnmatch import fnmatch
from glob import glob
from pathlib import Path
from typing import Any

from nbgrader.utils import rmtree

from gradekit.gradebook.address import rows_in
from gradekit.gradebook.entry import entry_of, unstored
from gradekit.gradebook.gradebook import Book
from gradekit.grading.grader import LabGrader
from gradekit.grading.grader_cache import refuse_old_references
from gradekit.nbgrader.context import LabPlace
from gradekit.results.journal import Journal, plan
from gradekit.sandbox.sandbox import check_level
from gradekit.submissions.folder import Handin, find_handins, nameless_folders


def survey(command: Any, level: str) -> None:
    """Tell nbgrader's Autograde which hand-ins there are, and make room for those to be graded.

    Raises:
        SandboxUnavailable: this machine cannot confine student code; nothing was touched.
        GraderAtFault: this process has other right answers in its memory than there are now.
    """
    folders = command.coursedir
    place = LabPlace(folders, folders.assignment_id, level)
    if place.lab not in place.course.labs:
        return
    check_level(level)
    refuse_old_references()
    with LabGrader(place.spec) as grader:  # it only reads here, and no sandbox is started
        name = f"{grader.released.name}.ipynb"
        if not fnmatch(grader.released.name, folders.notebook_id):
            return
        pattern = folders.format_path(folders.submitted_directory, folders.student_id, place.lab)
        found = {Path(folder).parent.name: folder for folder in glob(pattern)}
        handins = [
            replace(handin, files={}, modified={})  # a thousand of these fit anywhere
            for handin in find_handins(place.course.root, place.lab, list(found))
            if not _is_left_out(command, found[handin.student], handin)
        ]
        for nameless in nameless_folders(place.course.root):
            command.log.error("submitted/%s is left out: its name is not UTF-8", nameless)
        command.assignments = {
            found[handin.student]: [os.path.join(found[handin.student], name)]
            for handin in handins
        }
        for handin in _due(command, place, grader, handins):
            folder = place.folder(folders.autograded_directory, handin.student)
            if folder.exists():
                command.log.warning("%s: not graded yet as it now stands", handin.student)
                rmtree(str(folder))


def _is_left_out(command: Any, folder: str, handin: Handin) -> bool:
    """Whether a hand-in holds links, so that nbgrader would copy what they lead to."""
    if not _holds_links(Path(folder)):
        return False
    command.log.error(
        "%s: not graded, for the hand-in holds links, and nbgrader would copy what they lead to; "
        "`lab grade %s --student %s` grades it", handin.student, handin.lab, handin.student,
    )
    return True


def _due(
    command: Any, place: LabPlace, grader: LabGrader, handins: list[Handin]
) -> list[Handin]:
    """The hand-ins without a result, or with one that the gradebook or formgrader lacks."""
    with Journal(place.journal, wait=None, on_wait=command.log.warning) as journal:
        pairs = [(handin.student, handin.digest) for handin in handins]
        due = set(plan(journal, pairs, grader.keys.of))
        entries, stored = [], {}
        for handin in handins:
            record = journal.submission(handin.student, handin.digest)
            if record is not None:
                scores = journal.scores(grader.keys.of(handin.student, handin.digest))
                entries.append(entry_of(place.course, record, handin.submitted_at, scores))
                stored[handin.student] = journal.stored(handin.student, place.address.shown)
    with Book(place.address) as book:  # as `nbgrader generate_assignment` would, where it has not
        book.register(place.lab, grader.released, place.course.dates(place.lab).due)
    due |= {entry.student for entry in unstored(entries, stored, rows_in(place.address))}
    step, name = place.folders.autograded_directory, f"{grader.released.name}.ipynb"
    due |= {h.student for h in handins if not (place.folder(step, h.student) / name).is_file()}
    return [handin for handin in handins if handin.student in due]


def _holds_links(folder: Path) -> bool:
    if folder.is_symlink() or folder.parent.is_symlink():
        return True
    return any(
        Path(place, name).is_symlink()
        for place, inner, files in os.walk(folder) for name in (*inner, *files)
    )
