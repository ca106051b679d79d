"""The term as tables for spreadsheets: each rule has a column of its own.

Tested in tests/gradekit/term/test_commands.py.
"""

from __future__ import annotations

from pathlib import Path

from gradekit.course.dates import short_date
from gradekit.errors import ExportError
from gradekit.export.export import FOLDER, write_file
from gradekit.export.tables import Value, csv_of, xlsx_of
from gradekit.late import closes
from gradekit.term.result import LabResult, StudentTerm
from gradekit.term.term import Term

_OF_LAB = (
    "state", "score", "of", "percent", "days late", "slip days", "penalty", "extended to", "counts"
)  # fmt: skip
_OF_STUDENT = ("id", "name", "section")
_OF_TERM = (
    "days late", "slip days used", "slip days left", "missing", "dropped", "total percent", "grade",
    "final",
)  # fmt: skip


def write_term(term: Term, kind: str | None, out: Path | None) -> Path:
    """Write the table, and return where it is.

    Args:
        kind: csv or xlsx; by default the ending of `out`.

    Raises:
        ExportError: there is no such kind, or the file cannot be written.
    """
    kind = kind or (out.suffix.removeprefix(".") if out else "")
    match kind:
        case "csv":
            data = term_csv(term).encode()
        case "xlsx":
            data = term_xlsx(term)
        case _:
            raise ExportError(f"--to {kind}: the kinds are csv and xlsx")
    path = out or term.course.root / FOLDER / f"term.{kind}"
    write_file(path, data)
    return path


def term_csv(term: Term) -> str:
    """One row for each student."""
    return csv_of(_rows(term))


def term_xlsx(term: Term) -> bytes:
    """The same rows, and a sheet with the rules."""
    return xlsx_of({"term": _rows(term), "rules": _rules(term)})


def _rows(term: Term) -> list[list[Value]]:
    of_labs = [f"{lab} {name}" for lab in term.labs for name in _OF_LAB]
    heading: list[Value] = [*_OF_STUDENT, *of_labs, *_OF_TERM]
    return [heading, *map(_row, term.rows)]


def _row(row: StudentTerm) -> list[Value]:
    student = row.student
    cells: list[Value] = [student.id, student.name, student.section]
    for lab in row.labs:
        cells += _lab_cells(lab)
    return [
        *cells, row.days_late, row.slipped, row.slip_days - row.slipped, " ".join(row.missing),
        " ".join(row.dropped), row.total, row.grade, "yes" if row.is_final else "no",
    ]  # fmt: skip


def _lab_cells(lab: LabResult) -> list[Value]:
    score, late = lab.score, lab.score.lateness
    return [
        str(score.state), score.score, score.of, lab.percent, late.days, late.slipped,
        score.penalty if score.score is not None else None,
        lab.own_due.isoformat(" ", "minutes") if lab.own_due else "", str(lab.counts),
    ]  # fmt: skip


def _rules(term: Term) -> list[list[Value]]:
    course = term.course
    labs: list[list[Value]] = [
        [
            lab,
            table.title,
            course.weight(lab),
            short_date(table.due),
            short_date(closes(course, lab)),
        ]
        for lab in course.labs
        if (table := course.lab(lab))
    ]
    late, rule = course.values.late, course.values.term
    rules: list[list[Value]] = [
        ["lowest labs that are dropped", rule.drop_lowest],
        ["minutes of grace", late.grace_minutes],
        ["per cent taken off for each day late", late.percent_per_day],
        ["last day late that earns points", late.last_day],
        ["slip days", late.slip_days],
    ]
    scale = sorted(rule.scale.items(), key=lambda pair: -pair[1])
    rules += [[f"grade {grade}: from this percentage on", percent] for grade, percent in scale]
    return [["lab", "title", "weight", "due", "closes"], *labs, [], ["rule", "value"], *rules]
