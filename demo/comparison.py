"""Checks each student's points against the expected mark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from demo.submission import DemoSubmission
from gradekit.course import Course
from gradekit.gradebook.address import address_of


@dataclass(frozen=True)
class Result:
    """One student's result.

    Attributes:
        state: in the words of `lab grade`.
        points: by exercise.
        score: the gradebook's, after the late rule; None if it has no such student.
        differences: from the expected result, one sentence each.
    """

    submission: DemoSubmission
    state: str
    points: Mapping[str, Any]
    score: float | None
    differences: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether the student got the expected mark."""
        return not self.differences

    @property
    def total(self) -> float | None:
        """The sum of the points, before the late rule; None if any is missing."""
        return None if None in self.points.values() else round(sum(self.points.values()), 2)


def scores_in_book(course: Course, lab: str) -> dict[str, float]:
    """Each student's points in nbgrader's gradebook, after the late rule."""
    from gradekit.gradebook.gradebook import Book

    with Book(address_of(course)) as book:
        return {student: marks.score for student, marks in book.marks(lab).items()}


def compare(
    submissions: Sequence[DemoSubmission],
    rows: Iterable[Mapping[str, Any]],
    scores: Mapping[str, float],
) -> list[Result]:
    """Check `lab grade --json` and the gradebook against the class, in the order of the class."""
    by_student = {row["student"]: row for row in rows}
    return [
        _compare(submission, by_student.get(submission.student), scores.get(submission.student))
        for submission in submissions
    ]


def _compare(
    submission: DemoSubmission, row: Mapping[str, Any] | None, score: float | None
) -> Result:
    if row is None:
        return Result(submission, "missing", {}, score, ("no record of this student",))
    found = tuple(_differences(submission, row, score))
    return Result(submission, row["state"], row["points"], score, found)


def _differences(
    submission: DemoSubmission, row: Mapping[str, Any], score: float | None
) -> Iterator[str]:
    expected, points = submission.expected, row["points"]
    if row["state"] != expected.state:
        yield f"is {row['state']}, not {expected.state}"
    for name in sorted(points.keys() | expected.points.keys()):
        if not _same(points.get(name), expected.points.get(name)):
            yield f"{name}: {points.get(name)} instead of {expected.points.get(name)}"
    if not _same(score, expected.score):
        yield f"in the gradebook: {score} instead of {expected.score}"
    for word in expected.words:
        if word.lower() not in row["reason"].lower():
            yield f"no note says {word!r}"
    for exercise, mistake in expected.mistakes.items():
        named = row["advice"].get(exercise, ())
        if mistake not in named:
            yield f"{exercise}: {mistake} was not recognised, but {', '.join(named) or 'none'}"


def _same(got: float | None, expected: float | None) -> bool:
    return got is not None and expected is not None and abs(got - expected) < 1e-6


def show(console: Console, results: Sequence[Result]) -> None:
    """Print the table, and one sentence per difference."""
    table = Table()
    for heading in ("student", "the hand-in", "state"):
        table.add_column(heading, overflow="fold")
    for heading in ("points", "expected", "gradebook"):
        table.add_column(heading, justify="right")
    table.add_column("ok", justify="center")
    for result in results:
        table.add_row(
            escape(result.submission.student),
            escape(result.submission.why),
            escape(result.state),
            _number(result.total),
            _number(result.submission.expected.total),
            _number(result.score),
            "[green]yes[/]" if result.ok else "[bold red]NO[/]",
        )
    console.print(table)
    wrong = [result for result in results if not result.ok]
    for result in wrong:
        console.print(
            f"[red]{escape(result.submission.student)}[/]: {escape('; '.join(result.differences))}",
            highlight=False,
        )
    if not wrong:
        sentence = f"All {len(results)} students got the expected mark."
        console.print(sentence, style="green")


def _number(points: float | None) -> str:
    return "–" if points is None else f"{points:g}"
