"""A term's table from percentages, without hand-ins."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from gradekit.course import load_course
from gradekit.export.scores import Score, ScoreState
from gradekit.late import Lateness
from gradekit.roster.students import Student
from gradekit.term.result import Counting, LabResult, term_of
from gradekit.term.term import Term


def term_with(
    root: Path,
    results: Mapping[str, Sequence[float | None]],
    no_weight: Collection[str] = (),
) -> Term:
    """A term in which each student, by id, has these percentages; None is a missing hand-in."""
    labs = [f"lab{number:02}" for number in range(len(next(iter(results.values()))))]
    (root / "course.toml").write_text(
        '[course]\nname = "A course"\n'
        + "".join(
            f'[[lab]]\nid = "{lab}"\ntitle = "Title of {lab}"\nrelease = 2026-09-01\n'
            f"due = 2026-09-08\n{'weight = 0' if lab in no_weight else ''}\n"
            for lab in labs
        )
    )
    course = load_course(root)
    rows = [
        term_of(
            Student(name, name.capitalize()),
            [
                _result(lab, percent, course.weight(lab))
                for lab, percent in zip(labs, percents, strict=True)
            ],
            course.values.term,
            0,
        )
        for name, percents in results.items()
    ]
    return Term(course, tuple(labs), tuple(rows), ())


def _result(lab: str, percent: float | None, weight: float) -> LabResult:
    state = ScoreState.MISSING if percent is None else ScoreState.GRADED
    when = None if percent is None else datetime(2026, 9, 7, tzinfo=UTC)
    score = Score(Student("x", "X"), state, when, {}, percent, 0.0, Lateness(), 100.0)
    return LabResult(lab, score, weight, None, Counting.YES if weight else Counting.NO_WEIGHT)
