"""What a run of ``lab grade`` changed: whose points moved, by how much, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gradekit.gradebook.marks import Marks
from gradekit.results.journal import Journal
from gradekit.results.records import (
    CheckResult,
    ExerciseResult,
    State,
    SubmissionRecord,
    points_that_count,
)
from gradekit.wording import first_of

if TYPE_CHECKING:
    from gradekit.submissions.released import Released  # imports nbformat

_MOST_TITLES = 2  # of the checks that explain one exercise


@dataclass(frozen=True)
class Result:
    """A student's result as the journal had it at some moment."""

    record: SubmissionRecord
    exercises: Mapping[str, ExerciseResult]

    @property
    def scores(self) -> dict[str, float | None]:
        """The points that count by exercise."""
        earned = {name: result.earned for name, result in self.exercises.items()}
        return points_that_count(self.record.state, earned)

    @property
    def total(self) -> float | None:
        """The points that count; None if the grader failed."""
        known = [score for score in self.scores.values() if score is not None]
        if self.record.state is State.THEIRS:
            return 0.0
        return round(sum(known), 2) if known else None


@dataclass(frozen=True)
class ScoreChange:
    """A student whose points are other ones than after the last run.

    Attributes:
        before, after: the judge's points, without lateness and manual marks; None if the grader
            failed.
        reasons: one sentence each.
    """

    student: str
    before: float | None
    after: float | None
    reasons: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "student": self.student, "before": self.before, "after": self.after,
            "reasons": list(self.reasons),
        }  # fmt: skip


def results_now(journal: Journal, students: Iterable[str], released: Released) -> dict[str, Result]:
    """The present results of those students who have one, by the present names of exercises."""
    found = {}
    for student in students:
        record = journal.submission(student)
        if record is not None:
            records = journal.results(student, record.digest)
            results = {name: one.result for name, one in records.items()}
            found[student] = Result(record, released.with_new_names(results))
    return found


def changes(before: Mapping[str, Result], after: Mapping[str, Result]) -> tuple[ScoreChange, ...]:
    """Those whose points moved, by student; a first result is not a change."""
    return tuple(
        ScoreChange(student, old.total, new.total, tuple(_reasons(old, new)))
        for student in sorted(before)
        if (old := before[student]).scores != (new := after[student]).scores
        or old.total != new.total
    )


def manual_marks_to_review(
    marks: Mapping[str, Marks], released: Released, students: Iterable[str]
) -> tuple[str, ...]:
    """A sentence for each manual mark that was given for another result than the present one.

    Args:
        marks: everyone's, from the gradebook.
        students: who was graded now.
    """
    cells = {target.grade_id: target.exercise for target in released.tests}
    return tuple(
        f"{student}: {cells[cell]} has {mark.manual:g} manual points, given for another result; "
        f"the judge gives {'none' if mark.auto is None else f'{mark.auto:g}'} now"
        for student in sorted(students)
        if student in marks
        for cell, mark in marks[student].marks.items()
        if cell in cells and mark.manual is not None and mark.needs_manual_grade
    )


def _reasons(old: Result, new: Result) -> Iterator[str]:
    if old.record.digest != new.record.digest:
        yield "a newer hand-in"
    states = (old.record.state, new.record.state)
    match states:
        case (State.OURS, State.GRADED):
            yield "the grader had failed before"
        case (_, State.OURS):
            yield "the grader failed now"
            return
        case (_, State.THEIRS):
            yield f"it cannot be run now: {new.record.reason}"
            return
        case (State.THEIRS, _):
            yield "it could not be run before"
            return
    before, after = old.scores, new.scores
    for name in dict.fromkeys([*before, *after]):
        if before.get(name) != after.get(name):
            moved = f"{name} {_points(before.get(name))} → {_points(after.get(name))}"
            why = _by_checks(old.exercises.get(name), new.exercises.get(name))
            yield f"{moved}: {why}" if why else moved


def _by_checks(old: ExerciseResult | None, new: ExerciseResult | None) -> str:
    """Which checks explain that the points of an exercise moved; empty if none does."""
    if old is None or new is None:
        return ""
    if old.broken or new.broken:
        return "the grader failed " + ("before" if old.broken else "now")
    before = {check.name: check for check in old.checks}
    now = {check.name: check for check in new.checks}
    both = [(before[name], check) for name, check in now.items() if name in before]
    found = {
        "earns more": [check for was, check in both if _share(check) > _share(was)],
        "earns less": [check for was, check in both if _share(check) < _share(was)],
        "is new": [check for name, check in now.items() if name not in before],
        "is gone": [check for name, check in before.items() if name not in now],
        "has other points": [
            c for was, c in both if _share(c) == _share(was) and c.points != was.points
        ],
    }
    return "; ".join(f"{_quoted(checks)} {words}" for words, checks in found.items() if checks)


def _share(check: CheckResult) -> float:
    """The share of its points that a check earned; of a check without points, whether it passed."""
    return round(check.earned / check.points, 4) if check.points else float(check.passed)


def _quoted(checks: Sequence[CheckResult]) -> str:
    return first_of((f"“{check.title.rstrip('.')}”" for check in checks), _MOST_TITLES)


def _points(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"
