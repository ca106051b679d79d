"""Scores into the grading worksheet of a Moodle assignment, for Moodle to import again.

Its columns: Identifier ("Participant 7101"; the number belongs to the assignment, not to the
person), Full name, ID number, Email address, Status, Grade, Maximum Grade, Grade can be changed,
Last modified (submission), Last modified (grade), Feedback comments. Which there are depends on the
site and on its language. Moodle takes the number from the end of the identifier, and skips a grade
that was changed in Moodle after the worksheet was made.

Source: moodle, mod/assign/gradingtable.php and mod/assign/feedback/offline.
"""

from __future__ import annotations

import re

from gradekit.errors import ExportError
from gradekit.export.csv_text import CsvText
from gradekit.export.filling import Filled, Filling
from gradekit.export.numbers import number_in
from gradekit.roster.moodle_words import LANGUAGES, words_of
from gradekit.roster.people import Person

_NUMBER = re.compile(r"\d+$")


def fill_moodle(worksheet: CsvText, filling: Filling) -> Filled:
    """Fill the columns of grades and comments.

    Raises:
        ExportError: it is not a grading worksheet, or the assignment has other points than the lab.
    """
    rows = worksheet.rows
    heading = [cell.value.strip() for cell in rows[0]] if rows else []
    there = {name.casefold(): name for name in reversed(heading)}
    words = words_of(there)
    columns = words.columns(there) if words else {}
    if words is None or "grade" not in columns:
        raise ExportError(
            f"{worksheet.name} is not a grading worksheet of Moodle: its first row should have the "
            "columns Identifier and Grade; download it in Moodle with Download grading worksheet, "
            f"in one of these languages: {', '.join(LANGUAGES)}"
        )
    at = {field: heading.index(column) for field, column in columns.items()}
    for row in rows[1:]:
        if len(row) < len(heading):
            continue  # an empty line at the end
        cells = {field: row[place].value.strip() for field, place in at.items()}
        if "most" in cells:
            filling.same_points(number_in(cells["most"]), columns["most"])
        found = _NUMBER.search(cells["identifier"])
        person, number = _person(cells), found[0] if found else ""
        if cells.get("locked", "").casefold() == words.no:
            filling.keep(person, "locked in Moodle", number)
            continue
        comment = row[at["comment"]] if "comment" in at else None
        filling.fill(person, row[at["grade"]], comment, number)
    return filling.done(worksheet)


def _person(cells: dict[str, str]) -> Person:
    name = cells.get("name", "")
    return Person(
        name or cells["identifier"],
        names=(name,),
        email=cells.get("email", ""),
        sis_id=cells.get("sis_id", ""),
    )
