"""The student's attnlab: solved for labs that are already due, blank for this one and the rest.

One function makes the library of a student's bundle and the one in the sandbox, so that no notebook
is graded against a library that contains more than its author had.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from gradekit.build.blanks import blank_module
from gradekit.build.library_files import PACKAGE, library_files
from gradekit.course import Course
from gradekit.errors import BlankError, CourseError
from gradekit.exercise.definition import Exercise
from gradekit.exercise.loader import CourseLabs, exercise_files

Names = frozenset[tuple[str, str]]


def write_student_library(labs: CourseLabs, lab: str, target: Path) -> None:
    """Write the library for students of `lab` as the folder ``attnlab`` in `target`.

    Raises:
        CourseError: a reference cannot be blanked, or `target` already holds one.
    """
    folder = target / PACKAGE
    if folder.exists():
        raise CourseError(f"{folder} is already there; remove it or choose another place")
    named = _all_references(labs)
    texts = {
        **dict.fromkeys(_modules(frozenset().union(*named.values())), ()),
        **_modules(_not_yet_due(labs.course, lab, named)),
    }
    for path, name in library_files():
        copy = folder / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if path in texts:
            copy.write_text(_blanked(path, lab, texts[path]), "utf-8")
        else:
            copy.write_bytes(path.read_bytes())


def blank_references(labs: CourseLabs, lab: str) -> Names:
    """Module and name of each reference that students of `lab` do not get: those not yet due.

    Raises:
        CourseError: the course has no such lab, or its exercise files contradict each other.
    """
    return _not_yet_due(labs.course, lab, _all_references(labs))


def _all_references(labs: CourseLabs) -> dict[str, Names]:
    """Module and name of each library reference, by the lab whose exercises have it."""
    return {
        lab: frozenset(
            (reference.__module__, reference.__name__)
            for exercise in _exercises(labs, lab)
            for reference in exercise.references
        )
        for lab in labs.course.labs
    }


def _not_yet_due(course: Course, lab: str, named: Mapping[str, Names]) -> Names:
    """The references that are not part of the release of `lab`."""
    release = course.dates(lab).release
    solved, others = set[tuple[str, str]](), set[tuple[str, str]]()
    for other, names in named.items():
        (solved if course.dates(other).due <= release else others).update(names)
    return frozenset(others - solved)


def module_file(module: str) -> Path:
    """The file of an imported module."""
    path = sys.modules[module].__file__
    assert path is not None
    return Path(path).resolve()


def _exercises(labs: CourseLabs, lab: str) -> tuple[Exercise, ...]:
    """The exercises of `lab`; none if none is written yet."""
    if not exercise_files(labs.course.exercises(lab)):
        return ()
    return labs[lab].exercises


def _modules(named: Names) -> Mapping[Path, tuple[str, ...]]:
    """The names by the file of their module."""
    files: dict[Path, tuple[str, ...]] = {}
    for module, name in sorted(named):
        if module.partition(".")[0] != PACKAGE:
            raise CourseError(f"{module}.{name} is a reference outside {PACKAGE}; move it there")
        path = module_file(module)
        files[path] = (*files.get(path, ()), name)
    return files


def _blanked(path: Path, lab: str, names: tuple[str, ...]) -> str:
    try:
        text = blank_module(path.read_text("utf-8"), names)
    except BlankError as error:
        raise CourseError(f"{path.name}: {error}") from error
    if not names:
        return text
    head = f"# Made by `lab release`: answers not yet due when {lab} is released are blank."
    return f"{head}\n{text}"
