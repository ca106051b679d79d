"""Makes a lab's solved notebook, in nbgrader's source format, from its text source.

Cell ids come from names (of exercises, of headings), so an edit changes only the ids of its own
section. Tested in tests/gradekit/build/test_build.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from attnlab.notebook.file import text_digest
from gradekit.build.blanks import clear, has_solution_marks
from gradekit.build.cell_text import imported, solved_text
from gradekit.course import Course
from gradekit.course.dates import human_date
from gradekit.errors import CourseError
from gradekit.exercise.loader import LabExercises
from gradekit.exercise.source import RENAMED, Source, SourceCell

# The hidden lines of a grade cell, for a course that runs nbgrader without the sandbox.
# nbgrader's release step removes them.
_STAFF_CHECK = """\
check("{name}")
### BEGIN HIDDEN TESTS
import gradekit.nbgrader.unsandboxed
gradekit.nbgrader.unsandboxed.check("{name}", lab="{lab}")
### END HIDDEN TESTS"""
_ANSWER_PLACE = """\
{question}

<!-- BEGIN SOLUTION -->
*(No model answer is written down for this question.)*
<!-- END SOLUTION -->"""
_KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
_HEADING = re.compile(r"^#{1,3} +(.+)$", re.MULTILINE)
_NUMBERS = "no one two three four five six seven eight nine ten eleven twelve"
_FIELD = re.compile(r"\{\{ ?([a-z_]{3,}) ?\}\}")


def solved_notebook(course: Course, exercises: LabExercises) -> NotebookNode:
    """The solved notebook of one lab, without outputs.

    Raises:
        CourseError: the source and the exercise files contradict each other.
    """
    source = exercises.source
    _refuse_contradictions(source, exercises)
    fields = _fields(course, source, exercises)
    cells = [
        _notebook_cell(source, cell, cell_id, fields, exercises)
        for cell, cell_id in zip(source.cells, _cell_ids(source), strict=True)
    ]
    metadata = {
        "attnlab": _about(course, exercises),
        "kernelspec": _KERNEL,
        "language_info": {"name": "python"},
    }
    return new_notebook(cells=cells, metadata=metadata)


def _about(course: Course, exercises: LabExercises) -> dict[str, Any]:
    """What ``submit()`` knows of the lab: due date, late rule, graded steps, files of weights."""
    source, late = exercises.source, course.values.late
    about: dict[str, Any] = {
        "lab": exercises.lab,
        "generated": f"by `lab build`; edit solutions/{source.path.name} instead",
        "due": course.lab(exercises.lab).due.isoformat(),
        "late": {
            "grace_minutes": late.grace_minutes,
            "percent_per_day": plain_number(late.percent_per_day),
            "last_day": late.last_day,
            **({"slip_days": late.slip_days} if late.slip_days else {}),
        },
        "steps": {
            **{e.name: source.step(e.name).number for e in exercises.exercises if e.points},
            **dict.fromkeys((cell.name for cell in source.of("free_text")), ""),
        },
    }
    saves = [name for exercise in exercises.exercises for name in exercise.saves]
    return {**about, "saves": saves} if saves else about


def plain_number(points: float) -> int | float:
    """14 for 14.0, so that people read whole points as such."""
    return int(points) if float(points).is_integer() else round(points, 2)


def _refuse_contradictions(source: Source, exercises: LabExercises) -> None:
    for cell in source.of("exercise"):
        if has_solution_marks(cell.text):
            continue
        _, names = imported(source, cell)
        graded = exercises[cell.name].names
        if set(names) != set(graded):
            raise CourseError(
                f"{source.place(cell)} imports {', '.join(names)}, but autograder/exercises/"
                f"{exercises.lab}/{cell.name}.py grades {', '.join(graded)}; name the same there"
            )


def _fields(course: Course, source: Source, exercises: LabExercises) -> dict[str, str]:
    """The fields that prose may use between double braces."""
    table = course.lab(exercises.lab)
    manual = sum(cell.points for cell in source.of("free_text"))
    return {
        "course": course.values.course.name,
        "title": table.title,
        "due": human_date(table.due),
        "points": str(plain_number(exercises.points + manual)),
        "steps": _in_words(sum(exercise.points > 0 for exercise in exercises.exercises)),
        "minutes": str(sum(source.step(e.name).minutes for e in exercises.exercises if e.points)),
    }


def _in_words(count: int) -> str:
    words = _NUMBERS.split()
    return words[count] if count < len(words) else str(count)


def _fill(source: Source, cell: SourceCell, text: str, fields: Mapping[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        if match[1] not in fields:
            raise CourseError(
                f"{source.place(cell)} asks for {match[0]}; there are "
                f"{', '.join('{{' + name + '}}' for name in fields)}"
            )
        return fields[match[1]]

    return _FIELD.sub(value, text)


def _cell_ids(source: Source) -> Iterator[str]:
    """The ids: an exercise's name, or its section's heading and a number within the section."""
    section, counts, seen = "start", dict[str, int](), set[str]()
    for cell in source.cells:
        heading = _HEADING.search(cell.text) if cell.is_markdown else None
        if heading:
            section = _slug(heading[1]) or section
        if cell.name:
            cell_id = f"check_{cell.name}" if cell.role == "check" else cell.name
        else:
            counts[section] = counts.get(section, 0) + 1
            cell_id = f"{section}-{counts[section]}"
        if cell_id in seen:
            raise CourseError(
                f"{source.place(cell)}: another cell is also called {cell_id!r}; rename one"
            )
        seen.add(cell_id)
        yield cell_id


def _slug(heading: str) -> str:
    """The words of a heading, its number and its fields left out: renumbering changes no id."""
    words = re.sub(r"[^a-z0-9]+", "-", _FIELD.sub("", heading).lower()).strip("-")
    return re.sub(r"^[0-9-]+", "", words)[:40].strip("-")


def _notebook_cell(
    source: Source,
    cell: SourceCell,
    cell_id: str,
    fields: Mapping[str, str],
    exercises: LabExercises,
) -> NotebookNode:
    text, metadata = solved_text(source, cell), dict(cell.metadata)
    match cell.role:
        case "exercise":
            metadata["nbgrader"] = _nbgrader(cell.name, solution=True)
            metadata["attnlab"] = {"blank": text_digest(clear(text)), **_renamed(cell)}
        case "check":
            points = exercises[cell.name].points
            metadata["nbgrader"] = _nbgrader(f"check_{cell.name}", points=points)
            (written,) = (c for c in source.of("exercise") if c.name == cell.name)
            metadata |= {"attnlab": about} if (about := _renamed(written, "check_")) else {}
            text = _STAFF_CHECK.format(name=cell.name, lab=exercises.lab)
        case "free_text":
            metadata["nbgrader"] = _nbgrader(cell.name, points=cell.points, solution=True)
            metadata |= {"attnlab": about} if (about := _renamed(cell)) else {}
            if not has_solution_marks(text):
                text = _ANSWER_PLACE.format(question=text)
    if cell.is_markdown:
        text = _fill(source, cell, text, fields)
        return new_markdown_cell(text, id=cell_id, metadata=metadata)
    return new_code_cell(text, id=cell_id, metadata=metadata)


def _renamed(cell: SourceCell, prefix: str = "") -> dict[str, str]:
    """The id that nbgrader had for the cell before it was renamed; empty if it was not."""
    return {RENAMED: f"{prefix}{cell.renamed_from}"} if cell.renamed_from else {}


def _nbgrader(grade_id: str, points: float | None = None, solution: bool = False) -> dict[str, Any]:
    """nbgrader's metadata (schema 3): graded if there are points, locked if it is only graded."""
    values: dict[str, Any] = {
        "grade": points is not None,
        "grade_id": grade_id,
        "locked": points is not None and not solution,
        "schema_version": 3,
        "solution": solution,
        "task": False,
    }
    return values if points is None else {**values, "points": plain_number(points)}
