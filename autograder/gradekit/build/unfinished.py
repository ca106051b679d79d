"""What an author has still to write, and whether a whole lab agrees with itself.

Tested in tests/gradekit/build/test_unfinished.py.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

from gradekit.build.solved import plain_number
from gradekit.course import FILE_NAME, Course
from gradekit.exercise.authoring_errors import file_name
from gradekit.exercise.definition import Exercise
from gradekit.exercise.loader import LabExercises
from gradekit.exercise.written_answers import Errata, Predictions

# `lab new` writes this wherever the author has to.
FILL_IN = "FILL IN"
_ROUNDING = 1e-6  # of sums of points such as 0.1
_AROUND = " :#.*|\"'"
_POINTS = re.compile(r"^\*(\d+(?:\.\d+)?) points?\b", re.MULTILINE)


def to_fill_in(exercise: Exercise) -> Iterator[str]:
    """The places that `lab new` left to the author, and reasons that are missing."""
    files = {path: file_name(path) for path in exercise.files if "exercises" in path.parts}
    for reference in exercise.references:
        path = Path(inspect.getsourcefile(reference) or "")
        files[path] = "/".join(path.parts[-3:])
    for path, name in files.items():
        yield from _marks(path, name)
    if isinstance(exercise, Predictions | Errata):
        for name, item in exercise.items.items():
            if not item.reason.strip():
                yield f"{file_name(exercise.path)}: {name} has no reason; write one sentence why"


def disagreements(course: Course, lab: LabExercises) -> Iterator[str]:
    """What does not add up in a whole lab, one sentence each."""
    source = lab.source
    name = f"solutions/{source.path.name}"
    yield from _marks(source.path, name)
    total, wanted = points_of(lab), course.lab(lab.lab).points
    if abs(total - wanted) > _ROUNDING:
        yield (
            f"{name}: {lab.lab} adds up to {plain_number(total)} points, not "
            f"{plain_number(wanted)}; change points of its checks, or write points = "
            f"{plain_number(total)} in its [[lab]] table in {FILE_NAME}"
        )
    said: float | None = None
    for cell in source.cells:
        if cell.is_markdown and (found := _POINTS.search(cell.text)):
            said = float(found[1])
        elif cell.role == "exercise":
            points = lab[cell.name].points
            if said is not None and abs(said - points) > _ROUNDING:
                yield (
                    f"{source.place(cell)}: the text above {cell.name} says "
                    f"{plain_number(said)} points, and its checks add up to "
                    f"{plain_number(points)}; correct the text"
                )
            said = None


def points_of(lab: LabExercises) -> float:
    """The points of a whole lab, errata that the course leaves out included."""
    left_out = sum(exercise.points for exercise in lab.left_out)
    return lab.points + left_out + sum(cell.points for cell in lab.source.of("free_text"))


def _marks(path: Path, name: str) -> Iterator[str]:
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        _, mark, what = line.partition(FILL_IN)
        if mark:
            yield f"{name}, line {number}: fill in {what.strip(_AROUND) or 'this line'}"
