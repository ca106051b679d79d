"""The student's attnlab: solved for labs that have closed, blank for this one and the rest.

One function makes the library of a student's bundle and the one in the sandbox. They differ only if
an extension keeps an earlier lab open: the bundle is then blank for that lab, too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

from gradekit.build.blanks import blank_module
from gradekit.build.library_files import PACKAGE, library_files
from gradekit.course import Course
from gradekit.errors import BlankError, CourseError
from gradekit.exercise.loader import CourseLabs
from gradekit.late import answers_public_after

Names = frozenset[tuple[str, str]]
AnswersPublicAfter = Callable[[Course, str], datetime]


def write_student_library(
    labs: CourseLabs, lab: str, target: Path, solved_from: AnswersPublicAfter = answers_public_after
) -> None:
    """Write the library for students of `lab` as the folder ``attnlab`` in `target`.

    Args:
        solved_from: the moment from which a lab's answers may be in a library.

    Raises:
        CourseError: a reference cannot be blanked, or `target` already holds one.
    """
    folder = target / PACKAGE
    if folder.exists():
        raise CourseError(f"{folder} is already there; remove it or choose another place")
    named = all_references(labs)
    texts = {
        **dict.fromkeys(_modules(frozenset().union(*named.values())), ()),
        **_modules(_still_blank(labs.course, lab, named, solved_from)),
    }
    for path, name in library_files():
        copy = folder / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if path in texts:
            copy.write_text(_blanked(path, lab, texts[path]), "utf-8")
        else:
            copy.write_bytes(path.read_bytes())


def blank_references(labs: CourseLabs, lab: str) -> Names:
    """Module and name of each reference that the bundle of `lab` does not hold.

    Raises:
        CourseError: the course has no such lab, or its exercise files contradict each other.
    """
    return _still_blank(labs.course, lab, all_references(labs), answers_public_after)


def all_references(labs: CourseLabs) -> dict[str, Names]:
    """Module and name of each library reference, by the lab whose exercises have it."""
    return {
        lab: frozenset(
            (reference.__module__, reference.__name__) for reference in labs.references(lab)
        )
        for lab in labs.course.labs
    }


def _still_blank(
    course: Course, lab: str, named: Mapping[str, Names], solved_from: AnswersPublicAfter
) -> Names:
    """The references that are not part of the release of `lab`."""
    release = course.lab(lab).release
    solved, others = set[tuple[str, str]](), set[tuple[str, str]]()
    for other, names in named.items():
        (solved if solved_from(course, other) <= release else others).update(names)
    return frozenset(others - solved)


def module_file(module: str) -> Path:
    """The file of an imported module."""
    path = sys.modules[module].__file__
    assert path is not None
    return Path(path).resolve()


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
    head = f"# Made by `lab release`: answers of labs still open when {lab} is released are blank."
    return f"{head}\n{text}"
