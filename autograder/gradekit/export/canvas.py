"""Scores into the gradebook that Canvas exports, for Canvas to import again.

The file's first row names the columns: Student (or LastName and FirstName), ID, SIS User ID, SIS
Login ID, Section, custom columns, the assignments as "title (number)", and sums. Rows of no student
follow: the number of points, "    Points Possible", and, where grades are hidden, "Manual Posting".
A student's cell holds "EX" if excused and "N/A" if the assignment is not for this student; both are
left alone. Canvas itself ignores columns whose points are "(read only)".

Source: canvas-lms, lib/gradebook_exporter.rb and lib/gradebook_importer.rb.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gradekit.errors import ExportError
from gradekit.export.csv_text import Cell, CsvText
from gradekit.export.filling import Filled, Filling
from gradekit.export.numbers import number_in
from gradekit.roster.people import Person

_ASSIGNMENT = re.compile(r"(.*) \((\d+)\)")
_KEPT = {"EX": "excused in Canvas", "N/A": "not assigned to it in Canvas"}
_POINTS = "points possible"
_TEST_STUDENT = "student, test"


def fill_canvas(template: CsvText, filling: Filling, column: str | None = None) -> Filled:
    """Fill a lab's column.

    Args:
        column: the assignment's title or number; by default the one column whose title holds the
            lab's id or title.

    Raises:
        ExportError: it is not a gradebook of Canvas, no column or several fit, or the column counts
            other points than the lab.
    """
    rows = template.rows
    heading = [cell.value.strip() for cell in rows[0]] if rows else []
    if "ID" not in heading or not {"Student", "LastName"} & set(heading):
        raise ExportError(
            f"{template.name} is not a gradebook of Canvas: its first row should have the columns "
            "Student and ID; export it in Canvas with Grades, Export"
        )
    at = _column(heading, filling, column, template.name)
    points = next((row for row in rows if row[0].value.strip().lower() == _POINTS), None)
    if points is not None and at < len(points):
        filling.same_points(number_in(points[at].value), heading[at])
    for row in rows[1:]:
        person = _person(heading, row)
        if person is None or at >= len(row):
            continue
        if kept := _KEPT.get(row[at].value.strip()):
            filling.keep(person, kept)
        else:
            filling.fill(person, row[at])
    return filling.done(template)


def _person(heading: Sequence[str], row: Sequence[Cell]) -> Person | None:
    """Who a row is about; None for rows of no student."""
    cells = dict(zip(heading, (cell.value.strip() for cell in row), strict=False))
    name = cells.get("Student") or f"{cells.get('LastName', '')}, {cells.get('FirstName', '')}"
    # The test student that teachers have is in every export.
    if not cells.get("ID", "").isdecimal() or name.casefold() == _TEST_STUDENT:
        return None
    return Person(
        name,
        logins=(cells.get("SIS Login ID", ""),),
        names=(name,),
        canvas_id=cells["ID"],
        sis_id=cells.get("SIS User ID", ""),
    )


def _column(heading: Sequence[str], filling: Filling, wanted: str | None, name: str) -> int:
    titles = {
        at: found.groups()
        for at, text in enumerate(heading)
        if (found := _ASSIGNMENT.fullmatch(text))
    }
    if wanted is None:
        words = (filling.lab.casefold(), filling.title.casefold())
        fits = [
            at
            for at, (title, _) in titles.items()
            if any(word in title.casefold() for word in words)
        ]
    else:
        fits = [at for at, parts in titles.items() if wanted in (*parts, heading[at])]
    if len(fits) == 1:
        return fits[0]
    said = f"has no column {wanted!r}" if wanted else f"has {len(fits) or 'no'} columns for the lab"
    shown = ", ".join(repr(title) for title, _ in titles.values()) or "none"
    raise ExportError(f"{name} {said}; name one with --column. Its assignments: {shown}")
