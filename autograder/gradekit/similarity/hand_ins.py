"""The texts that students wrote for a lab, by step: of this class, and of earlier ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from nbformat.notebooknode import NotebookNode

from gradekit.course import Course
from gradekit.course.course import SOLVED
from gradekit.errors import CollectError, CourseError, NotebookError
from gradekit.roster.people import Directory
from gradekit.roster.students import Roster
from gradekit.submissions.align import align
from gradekit.submissions.folder import SUBMITTED, SubmittedFiles, find_submissions
from gradekit.submissions.notebook import checked_exercise, open_notebook
from gradekit.submissions.released import Released, grade_id_of
from gradekit.submissions.sources import SourceReader
from gradekit.submissions.stored import read_origin
from gradekit.submissions.student_of import StudentFinder
from gradekit.submissions.submission import read_submission
from gradekit.submissions.times_file import TimesFile

OTHER = "other cells"


@dataclass(frozen=True)
class HandInTexts:
    """What one student wrote.

    Attributes:
        earlier: the name of the folder of an earlier class; empty for this one.
        code: by step, the text of the student's cells; :data:`OTHER` has those of no step.
        prose: by question, the student's own words.
        group: that handed it in together, so its members are not compared; empty for one student.
    """

    student: str
    earlier: str = ""
    code: Mapping[str, str] = field(default_factory=dict)
    prose: Mapping[str, str] = field(default_factory=dict)
    group: str = ""

    @property
    def label(self) -> str:
        """Whose it is, for people."""
        return f"{self.student} ({self.earlier})" if self.earlier else self.student

    def text(self, step: str) -> str:
        """The text of a step or question; empty if there is none."""
        return self.code.get(step) or self.prose.get(step) or ""


@dataclass(frozen=True)
class ClassTexts:
    """Everything that is compared.

    Attributes:
        steps: the steps and questions in the order of the notebook, with their headings.
        hand_ins: of this class first, by student.
        given: the released cells, which everybody has.
        answers: the cells of the solved notebook; none if it was not built here.
        unread: students whose hand-in has no notebook that can be read.
    """

    lab: str
    steps: Mapping[str, str]
    hand_ins: tuple[HandInTexts, ...]
    given: tuple[str, ...]
    answers: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


def read_class(course: Course, lab: str, earlier: Sequence[Path] = ()) -> ClassTexts:
    """The hand-ins in ``submitted/`` and in folders or zips of earlier classes.

    Args:
        earlier: folders of earlier courses, or anything that ``lab collect`` reads.

    Raises:
        CourseError: the lab is not built, or fewer than three hand-ins can be read.
        CollectError: an earlier folder is not there, or has no hand-in for the lab.
    """
    course.lab(lab)
    released = Released.read(course.released(lab))
    steps = {
        target.grade_id: target.heading or target.grade_id
        for target in released.targets
        if target.kind in ("solution", "answer")
    }
    alone, unread = _read(find_submissions(course.root, lab), released, "")
    hand_ins = [replace(one, group=_group(course, lab, one.student)) for one in alone]
    if len(hand_ins) < 3:
        raise CourseError(
            f"{lab} has {len(hand_ins)} readable hand-in{'s' * (len(hand_ins) != 1)} in "
            f"{SUBMITTED}/, and the comparison needs at least three; "
            f"`lab collect {lab}` brings more"
        )
    for folder in earlier:
        older, _ = _read(_earlier_files(course, lab, folder), released, folder.name)
        if not older:
            raise CollectError(f"{folder}: it has no hand-in for {lab} that can be read")
        hand_ins += older
    return ClassTexts(
        lab,
        {**steps, OTHER: OTHER},
        tuple(hand_ins),
        tuple(cell.source for cell in released.notebook.cells),
        tuple(_answers(course, lab)),
        tuple(unread),
    )


def _group(course: Course, lab: str, student: str) -> str:
    origin = read_origin(course.root, student, lab)
    return origin.group if origin else ""


def _answers(course: Course, lab: str) -> list[str]:
    # A course may keep its solutions elsewhere; the class's own agreement is then all there is.
    texts = []
    for path in sorted((course.root / SOLVED / lab).glob("*.ipynb")):
        notebook, _ = open_notebook(path.read_bytes(), path.name)
        texts += [cell.source for cell in notebook.cells]
    return texts


def _earlier_files(course: Course, lab: str, folder: Path) -> Iterator[SubmittedFiles]:
    if not folder.exists():
        raise CollectError(f"{folder}: there is no such folder or zip; nothing was compared")
    if (folder / SUBMITTED).is_dir():
        yield from find_submissions(folder, lab)
        return
    reader = SourceReader(
        course, lab, StudentFinder(Directory(Roster()), admit_new=True), TimesFile()
    )
    for found in reader.read(folder):
        undated = dict.fromkeys(found.files, 0.0)
        yield SubmittedFiles(found.student, lab, found.files, undated, (), "", None)


def _read(
    submissions: Iterable[SubmittedFiles], released: Released, earlier: str
) -> tuple[list[HandInTexts], list[str]]:
    hand_ins, unread = [], []
    for submitted in submissions:
        try:
            notebook = read_submission(submitted, released).notebook
        except NotebookError:
            notebook = None
        if notebook is None:
            unread.append(submitted.student)
        else:
            hand_ins.append(
                _hand_in(submitted.student, earlier, align(notebook, released), released)
            )
    return hand_ins, unread


def _hand_in(student: str, earlier: str, notebook: NotebookNode, released: Released) -> HandInTexts:
    targets = {target.grade_id: target for target in released.targets}
    code: dict[str, str] = {}
    prose: dict[str, str] = {}
    others: list[str] = []
    for cell in notebook.cells:
        target = targets.get(grade_id_of(cell) or "")
        kind = target.kind if target else cell.cell_type
        if target is not None and kind == "answer":
            prose[target.grade_id] = target.own_text(cell.source)
        elif cell.source.strip() in released.sources or checked_exercise(cell.source):
            continue
        elif target is not None and kind == "solution":
            code[target.grade_id] = cell.source
        elif kind == "code":
            others.append(cell.source)
    if others:
        code[OTHER] = "\n\n".join(others)
    return HandInTexts(student, earlier, code, prose)
