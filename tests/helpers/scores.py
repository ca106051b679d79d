"""Scores of the class whose exports `tests.helpers.exports` builds."""

from __future__ import annotations

from datetime import UTC, datetime

from gradekit.export.filling import Filling
from gradekit.export.scores import Score, ScoreState
from gradekit.late import Lateness
from gradekit.roster.csv_table import read_table
from gradekit.roster.students import Student, roster_of
from tests.helpers.exports import STUDENTS

WHEN = datetime(2026, 9, 19, 10, 15, tzinfo=UTC)
ONE_DAY = Lateness(seconds=3600, days=1, percent=10)
LATE = "Handed in 1 day late: 10 % of the points are taken off."


def score_of(student: Student, raw: float | None, **changes: object) -> Score:
    """A score of 16 points in two parts."""
    values = {
        "state": ScoreState.GRADED if raw is not None else ScoreState.MISSING,
        "when": WHEN if raw is not None else None,
        "parts": {"softmax": raw, "explain": 0.0 if raw is not None else None},
        "raw": raw,
        "penalty": 0.0,
        "lateness": Lateness(),
        "of": 100.0,
        **changes,
    }
    return Score(student, **values)  # type: ignore[arg-type]


def scores_of_class(tmp_path) -> list[Score]:
    """Everyone of the class; lei.li is late, vdberg handed in nothing."""
    path = tmp_path / "students.csv"
    path.write_text(STUDENTS, "utf-8")
    raws = {
        "ada": 12.5,
        "zoneil": 90.0,
        "lei.li": 80.0,
        "vdberg": None,
        "jmueller": 0.0,
        "g_k": 7.25,
    }
    late = {"lei.li": {"penalty": 8.0, "lateness": ONE_DAY, "state": ScoreState.LATE}}
    return [
        score_of(student, raws.get(student.id), **late.get(student.id, {}))
        for student in roster_of(read_table(path))
    ]


def filling_of(tmp_path, **options) -> Filling:
    """The class's scores, ready to be filled into a file."""
    return Filling("lab01", "Softmax", scores_of_class(tmp_path), **options)
