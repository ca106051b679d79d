"""Selects the submissions for ``nbgrader autograde``: the same as for ``lab grade``.

By itself, nbgrader grades a hand-in if ``autograded/`` has no folder for it, or an older time
stamp. It skips students who renamed the notebook, and keeps an old score if the answers, an
exercise or the gradebook changed but no time stamp did.

Tested in tests/gradekit/nbgrader/test_regrade.py and test_plugins.py.
"""

from __future__ import annotations

import os
from dataclasses import replace
from fnmatch import fnmatch
from glob import glob
from pathlib import Path
from typing import Any

from nbgrader.utils import rmtree

from gradekit.gradebook.update import GradebookUpdate
from gradekit.grading.grader import LabGrader
from gradekit.grading.grader_cache import process_cache
from gradekit.nbgrader.context import LabContext
from gradekit.results.journal import Journal, plan
from gradekit.sandbox.levels import choose
from gradekit.submissions.folder import SubmittedFiles, find_submissions, folders_not_utf8


def select_submissions(command: Any, level: str) -> None:
    """Give nbgrader's Autograde its submissions, and delete old results of those to be graded.

    Raises:
        SandboxUnavailableError: this machine cannot confine student code; nothing was changed.
        GraderError: the references have changed since this process imported them.
    """
    folders = command.coursedir
    context = LabContext(folders, folders.assignment_id, level)
    if context.lab not in context.course.labs:
        return
    command.log.info(choose(level).line)
    process_cache().refuse_old_references()
    with LabGrader(context.spec) as grader:  # it only reads, and starts no sandbox
        name = f"{grader.released.name}.ipynb"
        if not fnmatch(grader.released.name, folders.notebook_id):
            return
        pattern = folders.format_path(folders.submitted_directory, folders.student_id, context.lab)
        found = {Path(folder).parent.name: folder for folder in glob(pattern)}
        submissions = [
            replace(submitted, files={}, modified={})  # without contents: a thousand fit in memory
            for submitted in find_submissions(context.course.root, context.lab, list(found))
            if not _is_left_out(command, found[submitted.student], submitted)
        ]
        for nameless in folders_not_utf8(context.course.root):
            command.log.error("submitted/%s is skipped: its name is not UTF-8", nameless)
        command.assignments = {
            found[submitted.student]: [os.path.join(found[submitted.student], name)]
            for submitted in submissions
        }
        for submitted in _due(command, context, grader, submissions):
            folder = context.folder(folders.autograded_directory, submitted.student)
            if folder.exists():
                command.log.warning("%s: its present state is not graded yet", submitted.student)
                rmtree(str(folder))


def _is_left_out(command: Any, folder: str, submitted: SubmittedFiles) -> bool:
    """Whether a hand-in holds links, because nbgrader would copy their targets."""
    if not _holds_links(Path(folder)):
        return False
    command.log.error(
        "%s: not graded, because the hand-in holds links, and nbgrader would copy their targets; "
        "`lab grade %s --student %s` grades it",
        submitted.student,
        submitted.lab,
        submitted.student,
    )
    return True


def _due(
    command: Any, context: LabContext, grader: LabGrader, submissions: list[SubmittedFiles]
) -> list[SubmittedFiles]:
    """The submissions without a result, or with one that the gradebook or formgrader lacks."""
    with Journal(context.journal, wait=None, on_wait=command.log.warning) as journal:
        pairs = [(submitted.student, submitted.digest) for submitted in submissions]
        due = set(plan(journal, pairs, grader.keys.of))
        update = GradebookUpdate(context.course, context.lab, journal, context.address)
        found = [
            update.entry(submitted, grader.keys.of(submitted.student, submitted.digest))
            for submitted in submissions
        ]
        with update.book(grader.released):  # nbgrader needs the lab in its gradebook
            pass
        due |= {entry.student for entry in update.missing(list(filter(None, found)))}
    step, name = context.folders.autograded_directory, f"{grader.released.name}.ipynb"
    due |= {
        submitted.student
        for submitted in submissions
        if not (context.folder(step, submitted.student) / name).is_file()
    }
    return [submitted for submitted in submissions if submitted.student in due]


def _holds_links(folder: Path) -> bool:
    if folder.is_symlink() or folder.parent.is_symlink():
        return True
    return any(
        Path(context, name).is_symlink()
        for context, inner, files in os.walk(folder)
        for name in (*inner, *files)
    )
