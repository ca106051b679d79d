"""``lab show``: what one student handed in, and what became of it.

Tested in tests/gradekit/report/test_show.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from gradekit.course import Course
from gradekit.errors import ReportError
from gradekit.feedback.page import pages
from gradekit.feedback.views import AnswerView, ExerciseView, Page
from gradekit.results.folder import journal_path
from gradekit.roster.students import Student, load_roster
from gradekit.submissions.folder import SUBMITTED
from gradekit.wording import did_you_mean


@dataclass(frozen=True)
class EarlierResult:
    """One result of a student, as the journal has it.

    Attributes:
        hand_in: counts the student's different hand-ins from 1.
        state: graded, or broken.
        earned: the judge's points at that time; None if the grader failed.
    """

    hand_in: int
    state: str
    earned: float | None


@dataclass(frozen=True)
class Shown:
    """One student's hand-in.

    Attributes:
        page: what the student reads on the feedback page.
        due: when the student had to hand in, extensions included.
        extended: whether that is an extension.
        past: the results of this hand-in and of earlier ones, the oldest first.
    """

    student: Student
    page: Page
    due: datetime
    extended: bool
    past: tuple[EarlierResult, ...]

    def step(self, name: str) -> ExerciseView | AnswerView:
        """A step or question, by its name or by the number in its heading.

        Raises:
            ReportError: there is none.
        """
        for part in self.page.parts:
            if name in (part.name, part.title, part.title.split(" ")[0]):
                return part
        known = [part.name for part in self.page.parts]
        hint = did_you_mean(name, known) or f"its steps are {', '.join(known)}"
        raise ReportError(f"{self.page.lab} has no step {name!r}; {hint}")

    def failed_steps(self, name: str | None = None) -> tuple[str, ...]:
        """The steps in which a check failed, or the step `name` if one did there.

        Raises:
            ReportError: there is no step `name`.
        """
        parts = self.page.parts if name is None else [self.step(name)]
        return tuple(
            part.name
            for part in parts
            if isinstance(part, ExerciseView)
            and part.result is not None
            and not all(check.passed for check in part.result.checks)
        )

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        page = self.page
        when = page.submitted_at
        return {
            "id": self.student.id, "name": self.student.name, "section": self.student.section,
            "lab": page.lab, "state": str(page.state), "reason": page.reason,
            "notes": list(page.notes), "when": when.isoformat() if when else None,
            "due": self.due.isoformat(), "late": page.late,
            "steps": [_step_json(step) for step in page.exercises],
            "questions": [_question_json(question) for question in page.answers],
            "raw": page.before_penalty, "penalty": page.penalty, "score": page.score,
            "of": page.points, "final": page.is_final,
            "past": [dict(vars(past)) for past in self.past],
        }  # fmt: skip


def show_hand_in(course: Course, lab: str, student: str) -> Shown:
    """One student's hand-in.

    Raises:
        CourseError: the lab is not in course.toml, or nothing of it was graded yet.
        ReportError: the student handed in nothing, or that is not graded yet.
        RosterError: students.csv has no such student.
    """
    course.lab(lab)
    found = next(pages(course, lab, student), None)
    if found is None:
        raise ReportError(_why_nothing(course, lab, student))
    roster, due = load_roster(course.root), course.due(lab, student)
    known = roster.student(student) if student in roster else Student(student, "")
    past = tuple(_past(journal_path(course, lab), student))
    return Shown(known, found, due, due != course.lab(lab).due, past)


def _why_nothing(course: Course, lab: str, student: str) -> str:
    if student and (course.root / SUBMITTED / student / lab).is_dir():
        return f"the hand-in of {student} for {lab} is not graded yet; `lab grade {lab}` does that"
    roster = load_roster(course.root)
    if roster:
        known = roster.student(student)
        return f"{known.name} ({student}) has not handed in {lab}"
    handed_in = [path.parent.name for path in course.root.glob(f"{SUBMITTED}/[!.]*/{lab}")]
    question = did_you_mean(student, handed_in, 3)
    hint = f"; {question}" if question else ""
    return f"there is no hand-in of {student!r} for {lab}{hint}"


def _past(path: Path, student: str) -> Iterator[EarlierResult]:
    """The student's results in the order of the journal, without repetitions."""
    earned: dict[str, dict[str, float | None]] = {}
    before: EarlierResult | None = None
    for line in _lines_about(path, student):
        points = earned.setdefault(line.get("digest", ""), {})
        if line["kind"] == "exercise":
            points[line["exercise"]] = line["earned"]
        elif line["kind"] == "submission":
            known = [value for value in points.values() if value is not None]
            total = round(sum(known), 2) if known else None
            past = EarlierResult(list(earned).index(line["digest"]) + 1, line["state"], total)
            if past != before:
                yield past
            before = past


def _lines_about(path: Path, student: str) -> Iterator[dict[str, Any]]:
    quoted = json.dumps(student).encode()
    with path.open("rb") as file:
        for text in file:
            if quoted not in text:
                continue
            try:
                line = json.loads(text)
                if line["student"] == student and line["kind"] in ("exercise", "submission"):
                    yield line
            except (ValueError, KeyError, TypeError):
                continue  # damaged: opening the journal says so


def _step_json(step: ExerciseView) -> dict[str, Any]:
    result = step.result
    return {
        "step": step.name, "title": step.title, "earned": step.earned, "of": step.points,
        "is_manual": step.is_manual, "comment": step.comment,
        "checks": [dict(vars(check)) for check in result.checks] if result else [],
        "mistakes": list(result.mistakes) if result else [],
        "advice": list(result.advice) if result else [],
        "replaced": list(step.replaced), "code": step.code,
    }  # fmt: skip


def _question_json(question: AnswerView) -> dict[str, Any]:
    return {
        "question": question.name, "title": question.title, "earned": question.earned,
        "of": question.points, "text": question.text, "comment": question.comment,
    }  # fmt: skip
