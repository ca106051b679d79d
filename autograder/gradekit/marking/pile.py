"""The answers to mark: anonymous, in an order that is shuffled and never changes.

An answer's name and its position follow from the course's secret, the question and the student. So
every TA sees the same order, nobody can tell whose answer comes next, and a TA's share of the pile
stays the same when more students hand in.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from gradekit.build.model_answer import ModelAnswer, model_answer
from gradekit.course import Course
from gradekit.course.course import SOLVED
from gradekit.errors import CourseError
from gradekit.feedback.page import cells_of
from gradekit.gradebook.address import address_of
from gradekit.gradebook.gradebook import Book
from gradekit.gradebook.manual_mark import ManualMark
from gradekit.results.folder import course_secret, graded_journal_path, results_folder
from gradekit.results.journal import Journal
from gradekit.results.records import State, SubmissionRecord
from gradekit.submissions.notebook import open_notebook
from gradekit.submissions.released import Released, TargetCell, grade_id_of
from gradekit.wording import without_breaks

_POINTS = re.compile(r"\*[\d.]+ points?, marked by a TA\*")
# A line break inside a paragraph.
_WAIT = 2.0  # seconds for `lab grade`, which writes the journal while it runs
_SHARE = re.compile(r"(\d+)/(\d+)")


@dataclass(frozen=True)
class Share:
    """A TA's share of the pile: the `number`-th of `of` equal ones."""

    number: int = 1
    of: int = 1

    @classmethod
    def parse(cls, text: str) -> Share:
        """From text such as 2/3.

        Raises:
            CourseError: it is not a share.
        """
        match = _SHARE.fullmatch(text.strip())
        if not match or not 1 <= int(match[1]) <= int(match[2]) <= 1000:
            raise CourseError(f"--share {text} is not a share; three TAs write 1/3, 2/3 and 3/3")
        return cls(int(match[1]), int(match[2]))


@dataclass(frozen=True)
class Answer:
    """One student's answer to one question.

    Attributes:
        key: names the answer without telling the student.
        mark: as it is in the gradebook.
    """

    key: str
    student: str
    text: str
    mark: ManualMark


@dataclass(frozen=True)
class Question:
    """One free-text question and the answers in a TA's share.

    Attributes:
        name: the cell's id.
        prompt: the text of the question.
    """

    name: str
    title: str
    prompt: str
    points: float
    model: ModelAnswer
    answers: tuple[Answer, ...]


def read_pile(course: Course, lab: str, share: Share) -> tuple[Question, ...]:
    """The questions of a lab with the answers to mark; empty answers are not among them.

    Raises:
        CourseError: the lab has no question or no results, or its mark scheme is wrong.
    """
    course.lab(lab)
    released = Released.read(course.released(lab))
    if not released.answers:
        raise CourseError(f"{lab} has no free-text question, so there is nothing to mark")
    path = graded_journal_path(course, lab)
    models = _models(course, lab, released)
    with Journal(path, wait=_WAIT) as journal:
        records = [r for r in journal.submissions if r.state in (State.GRADED, State.LATE)]
    with Book(address_of(course)) as book:
        marks = _marks(book, lab, released)
    pile = _Pile(course, released, records, marks, share)
    return tuple(
        Question(
            target.grade_id,
            target.heading or target.grade_id,
            _prompt(target),
            target.points,
            models[target.grade_id],
            pile.answers(target),
        )
        for target in released.answers
    )


def text_now(course: Course, lab: str, question: str, student: str) -> str:
    """The answer that a student's graded notebook has now."""
    released = Released.read(course.released(lab))
    record = SubmissionRecord(student, lab, "", State.GRADED)
    (target,) = (target for target in released.answers if target.grade_id == question)
    return target.own_text(cells_of(course.root, released, record).get(question, ""))


@dataclass(frozen=True)
class _Pile:
    course: Course
    released: Released
    records: list[SubmissionRecord]
    marks: Mapping[str, Mapping[str, ManualMark]]
    share: Share

    def answers(self, target: TargetCell) -> tuple[Answer, ...]:
        secret = course_secret(results_folder(self.course))
        found: list[tuple[bytes, Answer]] = []
        for record in self.records:
            mark = self.marks.get(record.student, {}).get(target.grade_id)
            written = self.released.with_new_names(record.answers).get(target.grade_id)
            key = _keyed(secret, "answer", record.lab, target.grade_id, record.student)
            mine = int.from_bytes(key, "big") % self.share.of == self.share.number - 1
            if not (mark and written and mine):
                continue
            cells = self.released.with_new_names(cells_of(self.course.root, self.released, record))
            text = target.own_text(cells.get(target.grade_id, ""))
            # Equal answers follow each other, so that they get equal marks.
            place = _keyed(secret, "order", target.grade_id, " ".join(text.casefold().split()))
            found.append((place + key, Answer(key.hex()[:24], record.student, text, mark)))
        return tuple(answer for _, answer in sorted(found, key=lambda pair: pair[0]))


def _marks(book: Book, lab: str, released: Released) -> dict[str, dict[str, ManualMark]]:
    return {
        student: released.with_new_names(
            {
                cell: ManualMark(mark.manual, found.comments.get(cell, ""), mark.needs_manual_grade)
                for cell, mark in found.marks.items()
            }
        )
        for student, found in book.marks(lab).items()
    }


def _models(course: Course, lab: str, released: Released) -> dict[str, ModelAnswer]:
    """The model answers by question, from the solved notebook; empty if it was not built here."""
    path = course.root / SOLVED / lab / f"{released.name}.ipynb"
    texts: dict[str, str] = {}
    if path.is_file():
        notebook, _ = open_notebook(path.read_bytes(), path.name)
        texts = {name: cell.source for cell in notebook.cells if (name := grade_id_of(cell))}
    found = {
        target.grade_id: model_answer(
            texts.get(target.grade_id, ""), f"{path.name}, cell {target.grade_id}", target.points
        )
        for target in released.answers
    }
    return {name: replace(model, text=without_breaks(model.text)) for name, model in found.items()}


def _prompt(target: TargetCell) -> str:
    """The question: the cell's own text without heading and placeholder, else the text above."""
    own = target.cell.source.strip().splitlines()[:-1]
    lines = own or target.prompt.strip().splitlines()
    kept = (line for line in lines if not line.startswith("#") and not _POINTS.fullmatch(line))
    return without_breaks("\n".join(kept).strip())


def _keyed(secret: bytes, *parts: str) -> bytes:
    text = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hmac.digest(secret, text, "sha256")


def with_mark(question: Question, key: str, mark: ManualMark) -> Question:
    """The question after one of its answers got a mark."""
    answers = tuple(
        replace(answer, mark=mark) if answer.key == key else answer for answer in question.answers
    )
    return replace(question, answers=answers)
