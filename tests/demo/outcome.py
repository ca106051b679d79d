"""What students got, held against what their hand-ins are worth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from demo.hand_in import HandIn


@dataclass(frozen=True)
class Result:
    """One student's outcome.

    Attributes:
        state: what `lab grade` says became of the hand-in.
        points: by exercise.
        differences: what is not as expected, a sentence each.
    """

    hand_in: HandIn
    state: str
    points: Mapping[str, Any]
    differences: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether the student got what the hand-in is worth."""
        return not self.differences

    @property
    def total(self) -> float | None:
        """All points, before the late rule; None where one is missing."""
        return None if None in self.points.values() else round(sum(self.points.values()), 2)


def compare(hand_ins: Sequence[HandIn], rows: Iterable[Mapping[str, Any]]) -> list[Result]:
    """Hold the rows of `lab grade --json` against the class, in the order of the class."""
    by_student = {row["student"]: row for row in rows}
    return [_compare(hand_in, by_student.get(hand_in.student)) for hand_in in hand_ins]


def _compare(hand_in: HandIn, row: Mapping[str, Any] | None) -> Result:
    if row is None:
        return Result(hand_in, "missing", {}, ("no record of this student",))
    expected, points = hand_in.expected, dict(row["points"] or {})
    differences = []
    if row["state"] != expected.state:
        differences.append(f"is {row['state']}, not {expected.state}")
    for name in sorted(points.keys() | expected.points.keys()):
        got, due = points.get(name), expected.points.get(name)
        if got is None or due is None or abs(got - due) > 1e-6:
            differences.append(f"{name}: {got} instead of {due}")
    note = row["reason"].lower()
    differences += [f"no note says {word!r}" for word in expected.words if word.lower() not in note]
    differences += [
        f"{exercise}: {name} is not recognised, but {row['advice'].get(exercise)}"
        for exercise, name in expected.mistakes.items()
        if name not in row["advice"].get(exercise, ())
    ]
    return Result(hand_in, row["state"], points, tuple(differences))


def show(console: Console, results: Sequence[Result]) -> None:
    """Print the table, and each difference in a sentence."""
    table = Table()
    for heading in ("student", "the hand-in", "state"):
        table.add_column(heading, overflow="fold")
    for heading in ("points", "expected"):
        table.add_column(heading, justify="right")
    table.add_column("ok", justify="center")
    for result in results:
        table.add_row(
            escape(result.hand_in.student),
            escape(result.hand_in.why),
            escape(result.state),
            _number(result.total),
            _number(result.hand_in.expected.total),
            "[green]yes[/]" if result.ok else "[bold red]NO[/]",
        )
    console.print(table)
    wrong = [result for result in results if not result.ok]
    for result in wrong:
        console.print(
            f"[red]{escape(result.hand_in.student)}[/]: {escape('; '.join(result.differences))}",
            highlight=False,
        )
    if not wrong:
        console.print(f"All {len(results)} students got what their hand-ins are worth.", style="green")


def _number(points: float | None) -> str:
    return "–" if points is None else f"{points:g}"
