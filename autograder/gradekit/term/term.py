"""``lab term``: the labs that have results by now, and everyone's row.

Tested in tests/gradekit/term/test_term.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gradekit.course import Course
from gradekit.course.dates import short_date
from gradekit.errors import CourseError
from gradekit.export.export import final_scores
from gradekit.export.scores import Score, ScoreState
from gradekit.late import Lateness, closes, closes_for
from gradekit.results.folder import graded_labs
from gradekit.roster.students import Student
from gradekit.term.result import Counting, LabResult, StudentTerm, term_of
from gradekit.wording import counted


@dataclass(frozen=True)
class Term:
    """The whole table.

    Attributes:
        labs: those that have results, in the order of the course.
        rows: one for everyone in students.csv, and for everyone else who handed in.
        notes: what is not in it yet, one sentence each.
    """

    course: Course
    labs: tuple[str, ...]
    rows: tuple[StudentTerm, ...]
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        rule = self.course.values.term
        return {
            "labs": [self._lab_json(lab) for lab in self.labs],
            "drop_lowest": rule.drop_lowest,
            "scale": dict(rule.scale),
            "students": [row.to_json() for row in self.rows],
            "notes": list(self.notes),
        }

    def _lab_json(self, lab: str) -> dict[str, Any]:
        table = self.course.lab(lab)
        return {
            "lab": lab, "title": table.title, "weight": self.course.weight(lab),
            "due": table.due.isoformat(), "closes": closes(self.course, lab).isoformat(),
        }  # fmt: skip


def term_table(course: Course, now: datetime, *, partial: bool = False) -> Term:
    """Everyone's results over all labs.

    A lab is in the table as soon as it has results. What a student did not hand in counts as 0 from
    the moment on after which it can earn nothing any more.

    Args:
        partial: also if parts of a lab need manual grading, or a closed lab has no results.

    Raises:
        CourseError: no lab has results, or a lab that has closed has none.
        ExportError: parts of a lab need manual grading, or wait for the grader.
    """
    labs = graded_labs(course)
    left = [lab for lab in course.labs if lab not in labs and course.weight(lab)]
    closed = [lab for lab in left if now > closes(course, lab)]
    if closed and labs and not partial:
        raise CourseError(
            f"{closed[0]} has closed and has no results; `lab grade {closed[0]}` makes them, "
            "weight = 0 in course.toml leaves it out, and --partial shows the other labs"
        )
    scores = {
        lab: {score.student.id: score for score in found}
        for lab, found in final_scores(course, labs, partial=partial).items()
        if found
    }
    everyone = _everyone(scores)
    rows = tuple(_row(course, student, scores, now, bool(left)) for student in everyone)
    return Term(course, tuple(scores), rows, tuple(_notes(course, left, rows, now)))


def _everyone(scores: Mapping[str, Mapping[str, Score]]) -> list[Student]:
    """All students of all labs: in the order of students.csv, and then the others by id."""
    found = {name: score.student for rows in scores.values() for name, score in rows.items()}
    # A student without a name is not in students.csv, which has one for everybody.
    others = sorted(name for name, student in found.items() if not student.name)
    return [s for s in found.values() if s.name] + [found[name] for name in others]


def _row(
    course: Course,
    student: Student,
    scores: Mapping[str, Mapping[str, Score]],
    now: datetime,
    to_come: bool,
) -> StudentTerm:
    labs = []
    for lab, rows in scores.items():
        score = rows.get(student.id) or _missing(student, next(iter(rows.values())))
        own_due = course.extensions.of(lab).get(student.id)
        counts = _counting(course, lab, score, now)
        labs.append(LabResult(lab, score, course.weight(lab), own_due, counts))
    values = course.values
    return term_of(student, labs, values.term, values.late.slip_days, to_come)


def _missing(student: Student, other: Score) -> Score:
    """The row of somebody who is not in students.csv and did not hand in this lab."""
    parts: dict[str, float | None] = dict.fromkeys(other.parts)
    return Score(student, ScoreState.MISSING, None, parts, None, 0.0, Lateness(), other.of)


def _counting(course: Course, lab: str, score: Score, now: datetime) -> Counting:
    if not course.weight(lab):
        return Counting.NO_WEIGHT
    if score.score is not None:
        return Counting.YES
    if score.state is not ScoreState.MISSING or now <= closes_for(course, lab, score.student.id):
        return Counting.NOT_YET
    return Counting.YES


def _notes(
    course: Course, left: Sequence[str], rows: Sequence[StudentTerm], now: datetime
) -> Iterator[str]:
    """What is not in the table yet, one sentence each."""
    for lab in left:
        when = closes(course, lab)
        open_until = f" and is open until {short_date(when)}" if now <= when else ""
        yield f"{lab} has no results{open_until}; it does not count yet."
    for lab in course.labs:
        waiting = [
            row.student.id
            for row in rows
            for one in row.labs
            if one.lab == lab and one.counts is Counting.NOT_YET
            and one.score.state is ScoreState.MISSING
        ]  # fmt: skip
        if waiting:
            until = short_date(max(closes_for(course, lab, student) for student in waiting))
            several = f"{len(waiting)} students" if len(waiting) > 1 else waiting[0]
            yield (
                f"{lab}: {several} can still hand in (until {until}); the lab does not count "
                f"for {'them' if len(waiting) > 1 else 'this student'} yet."
            )
    unfinished = sum(not row.is_final for row in rows)
    if unfinished:
        verb = "is" if unfinished == 1 else "are"
        yield f"{unfinished} of {counted(len(rows), 'result')} {verb} not final."
