"""A student's files -> the notebook to grade, or one sentence why there is none.

A submission that cannot be read is reported to student and TA, and the others are graded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from nbformat.notebooknode import NotebookNode

from gradekit.errors import NotebookError
from gradekit.submissions.align import written_exercises
from gradekit.submissions.folder import SubmittedFiles, is_notebook
from gradekit.submissions.notebook import open_notebook, read_json
from gradekit.submissions.released import Released

_LAB = re.compile(r"\w{1,20}")


@dataclass(frozen=True)
class Submission:
    """One submission, ready to be graded.

    Attributes:
        notebook: the chosen one, without outputs; None if none can be read.
        name: the chosen notebook's path among the files.
        broken: why there is no notebook, in one sentence for student and TA.
        is_ours: whether it is the grader that cannot read it.
        files: the other files, by relative path; never a notebook.
        notes: what was unusual, one sentence each.
    """

    student: str
    lab: str
    notebook: NotebookNode | None
    name: str
    broken: str | None
    files: Mapping[str, bytes]
    digest: str
    submitted_at: datetime | None
    notes: tuple[str, ...] = ()
    is_ours: bool = False


def read_submission(submitted: SubmittedFiles, released: Released) -> Submission:
    """The submission's notebook, chosen and checked; never raises because of its contents."""
    files = {name: data for name, data in submitted.files.items() if not is_notebook(name)}
    choice = _choose(submitted, released)
    notes = (*submitted.notes, *choice.notes)
    others = {name: data for name, data in files.items() if name != choice.name}
    return Submission(
        submitted.student,
        submitted.lab,
        choice.notebook,
        choice.name,
        choice.broken,
        others,
        submitted.digest,
        submitted.submitted_at,
        notes,
        choice.is_ours,
    )


@dataclass(frozen=True)
class _Choice:
    name: str = ""
    notebook: NotebookNode | None = None
    broken: str | None = None
    notes: tuple[str, ...] = ()
    is_ours: bool = False


def _choose(submitted: SubmittedFiles, released: Released) -> _Choice:
    expected = f"{released.name}.ipynb"
    names = [name for name in submitted.files if is_notebook(name)] or _disguised(submitted)
    good: dict[str, tuple[NotebookNode, tuple[str, ...]]] = {}
    bad: dict[str, str] = {}
    for name in sorted(names, key=lambda name: (_base(name) != expected, name)):
        try:
            notebook, notes = open_notebook(submitted.files[name], _base(name))
        except NotebookError as error:
            bad[name] = str(error)
            continue
        if other := _other_lab(notebook, submitted.lab, released):
            bad[name] = f"{name} is a notebook of {other}; hand in the one of {submitted.lab}."
        else:
            good[name] = notebook, notes
    if not good and submitted.unread:
        why = " ".join(submitted.unread)
        return _Choice(broken=f"{why} Correct its permissions, and grade again.", is_ours=True)
    if not good:
        return _Choice(broken=next(iter(bad.values()), None) or _nothing(submitted, expected))
    name, remark = _best(good, submitted, released, expected)
    notebook, notes = good[name]
    remarks = [*([remark] if remark else []), *bad.values(), *notes]
    if len(good) == 1 and _base(name) != expected:
        remarks.insert(0, f"The notebook is called {name} and not {expected}; it was found anyway.")
    if not written_exercises(notebook, released)[1]:
        remarks.append(
            f"{name} has none of the steps of {submitted.lab}; is it the notebook of another lab?"
        )
    return _Choice(name, notebook, None, tuple(remarks))


def _best(
    good: Mapping[str, tuple[NotebookNode, tuple[str, ...]]],
    submitted: SubmittedFiles,
    released: Released,
    expected: str,
) -> tuple[str, str]:
    """The notebook to grade, and if there are several, a sentence that gives the reason."""
    if len(good) == 1:
        return next(iter(good)), ""
    ranks = {}
    for name, (notebook, _) in good.items():
        new, had = written_exercises(notebook, released)
        called = _base(name) == expected
        # The right name decides, unless that notebook is unchanged and another has the work.
        ranks[name] = (bool(called and new), new, had, called)
    best = max(ranks.values())
    tied = [name for name, rank in ranks.items() if rank == best]
    name = max(tied, key=lambda name: (submitted.modified[name], name))
    if len(tied) > 1:
        why = "no other difference decides, so it is the newest"
    elif best[0]:
        why = "it has the lab's own name"
    else:
        why = "it has the most steps of the lab"
    return name, f"{len(good)} notebooks were handed in; {name} was graded: {why}."


def _other_lab(notebook: NotebookNode, lab: str, released: Released) -> str:
    """The other lab that a notebook names, if it has none of this lab's steps; else empty."""
    marks = notebook.metadata.get("attnlab")
    named = marks.get("lab") if isinstance(marks, dict) else None
    if not isinstance(named, str) or named == lab or not _LAB.fullmatch(named):
        return ""
    return "" if written_exercises(notebook, released)[1] else named


def _disguised(submitted: SubmittedFiles) -> list[str]:
    """Notebooks under other names: ``lab01.ipynb.txt``, ``lab01.json``, no ending at all."""
    found = []
    for name, data in submitted.files.items():
        if data[:512].lstrip().startswith(b"{"):
            try:
                read_json(data, name)
            except NotebookError:
                if ".ipynb" not in name:
                    continue
            found.append(name)
    return found


def _nothing(submitted: SubmittedFiles, expected: str) -> str:
    found = ", ".join(sorted(submitted.files)[:5]) or "nothing that can be read"
    remarks = " ".join(note for note in submitted.notes if ".ipynb" in note)
    sentence = f"No notebook was handed in (it should be {expected}; found: {found})."
    return f"{sentence} {remarks}".strip()


def _base(name: str) -> str:
    return name.rpartition("/")[2]
