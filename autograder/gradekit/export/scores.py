"""One lab's final scores: a row for each person in students.csv, and for others who handed in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from gradekit.course import Course
from gradekit.gradebook.address import address_of
from gradekit.gradebook.marks import Marks
from gradekit.gradebook.reading import marks_now
from gradekit.late import Lateness
from gradekit.results.journal import read_journal
from gradekit.results.records import State, SubmissionRecord
from gradekit.roster.students import Student, load_roster
from gradekit.submissions.folder import SUBMITTED
from gradekit.submissions.released import Released
from gradekit.submissions.slip_days import lateness_now, with_time_now


class ScoreState(StrEnum):
    """What became of a student's work, in the words of the tables."""

    MISSING = "missing"
    NOT_GRADED = "not graded"
    OPEN = "not final"
    GRADED = "graded"
    LATE = "late"
    THEIRS = "broken: theirs"
    OURS = "broken: ours"


@dataclass(frozen=True)
class Score:
    """One student's row.

    Attributes:
        when: of the hand-in; None if nothing was handed in, or the time is unknown.
        parts: points that count by exercise and question; None where there are none yet.
        raw: their sum; None if nothing has points.
        penalty: points taken off for lateness.
        lateness: what the penalty is for.
        of: the points of the lab.
    """

    student: Student
    state: ScoreState
    when: datetime | None
    parts: Mapping[str, float | None]
    raw: float | None
    penalty: float
    lateness: Lateness
    of: float

    @property
    def late(self) -> str:
        """The penalty in words; empty for none."""
        return self.lateness.sentence

    @property
    def score(self) -> float | None:
        """The points that count; None, and never 0, if nothing was graded."""
        return None if self.raw is None else round(max(0.0, self.raw - self.penalty), 2)

    @property
    def is_final(self) -> bool:
        """Whether nobody has anything left to mark or to grade."""
        return self.state not in (ScoreState.NOT_GRADED, ScoreState.OPEN, ScoreState.OURS)

    def to_json(self) -> dict[str, Any]:
        """The row as plain values."""
        return {
            "id": self.student.id, "name": self.student.name, "section": self.student.section,
            "state": str(self.state), "when": self.when.isoformat() if self.when else None,
            "points": dict(self.parts), "raw": self.raw, "penalty": self.penalty,
            "score": self.score, "of": self.of,
        }  # fmt: skip


def scores_of(course: Course, lab: str) -> list[Score]:
    """The scores of a lab, in the order of students.csv; others who handed in come last.

    Raises:
        CourseError: nothing was graded yet.
    """
    with read_journal(course, lab) as journal:
        records = journal.submissions
    return scores_from(course, lab, records, Released.read(course.released(lab)))


def scores_from(
    course: Course, lab: str, submissions: Iterable[SubmissionRecord], released: Released
) -> list[Score]:
    """As :func:`scores_of`, from records of the lab's journal.

    Args:
        submissions: everyone's latest.
        released: the lab's notebook.
    """
    parts = _parts(released)
    known = [with_time_now(course.root, record) for record in submissions]
    records = {record.student: record for record in known}
    late = {r.student: lateness_now(course, lab, r.student, r.moment) for r in records.values()}
    marks = marks_now(address_of(course), lab, late, released)
    handed_in = {folder.parent.name for folder in course.root.glob(f"{SUBMITTED}/[!.]*/{lab}")}
    roster = load_roster(course.root)
    strangers = sorted((handed_in | set(records)) - {student.id for student in roster})
    everyone = (*roster, *(Student(name, "") for name in strangers))
    return [
        _score(
            student,
            parts,
            records.get(student.id),
            marks.get(student.id),
            late.get(student.id, Lateness()),
            student.id in handed_in,
        )
        for student in everyone
    ]


def _parts(released: Released) -> dict[str, tuple[str, float]]:
    """By the id of a graded cell: the exercise or question, and its points."""
    exercises = {target.grade_id: (target.exercise, target.points) for target in released.tests}
    answers = {target.grade_id: (target.grade_id, target.points) for target in released.answers}
    return exercises | answers


def _score(
    student: Student,
    parts: Mapping[str, tuple[str, float]],
    record: SubmissionRecord | None,
    marks: Marks | None,
    late: Lateness,
    handed_in: bool,
) -> Score:
    of = sum(points for _, points in parts.values())
    names = [name for name, _ in parts.values()]
    if record is None or marks is None:
        state = ScoreState.NOT_GRADED if handed_in or record else ScoreState.MISSING
        when = record.moment if record else None
        return Score(student, state, when, dict.fromkeys(names), None, 0.0, Lateness(), of)
    points = {
        name: mark.score if (mark := marks.marks.get(cell)) and mark.is_known else None
        for cell, (name, _) in parts.items()
    }
    known = [value for value in points.values() if value is not None]
    raw = round(sum(known), 2) if known else None
    state = _state(record, marks, late)
    return Score(student, state, record.moment, points, raw, marks.penalty, late, of)


def _state(record: SubmissionRecord, marks: Marks, late: Lateness) -> ScoreState:
    match record.state:
        case State.OURS:
            return ScoreState.OURS
        case State.THEIRS:
            return ScoreState.THEIRS
        case State.GRADED | State.LATE:
            if not marks.is_complete:
                return ScoreState.OPEN
            return ScoreState.LATE if late.is_late else ScoreState.GRADED
        case state:
            raise ValueError(f"{record.student} has the state {state!r}")
