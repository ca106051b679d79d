"""What the verbs share: options, the course, labs by name, and one sentence for a failure.

Tested in tests/gradekit/cli/test_cli.py.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from gradekit.errors import CourseError

if TYPE_CHECKING:
    from gradekit.course import Course

STUDENT, TA, INSTRUCTOR = "Student", "TA", "Instructor"


def _not_negative(jobs: int) -> int:
    if jobs < 0:
        fail(f"--jobs {jobs}: write a number of processes, or 0 for one per core")
    return jobs


Lab = Annotated[str, typer.Argument(help="The lab, such as lab01.", metavar="LAB")]
Labs = Annotated[
    list[str] | None, typer.Argument(help="Labs; all if none is named.", metavar="LABS")
]
Root = Annotated[
    Path | None,
    typer.Option("--course", help="The course's folder; by default the nearest with course.toml."),
]
Jobs = Annotated[
    int, typer.Option(help="Worker processes; 0 for one per core.", callback=_not_negative)
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def course_at(folder: Path | None) -> Course:
    """The course in a folder; by default the nearest one, from the current folder upwards."""
    from gradekit.course import find_root, load_course

    return load_course(folder or find_root(Path.cwd()))


def chosen_labs(course: Course, labs: list[str] | None) -> list[str]:
    """The labs that were named; all of the course's if none was."""
    return named_labs(course, labs) or list(course.labs)


def named_labs(course: Course, labs: list[str] | None) -> list[str]:
    """The labs that were named; each is in course.toml."""
    for lab in labs or []:
        course.lab(lab)
    return list(labs or [])


def labs_and_exercises(course: Course, names: list[str]) -> tuple[list[str], list[str]]:
    """The labs in `names`; names that follow a single lab and are not labs are its exercises."""
    if len(names) > 1 and names[1] not in course.labs:
        return chosen_labs(course, names[:1]), names[1:]
    return chosen_labs(course, names), []


def lab_and_student(course: Course, first: str, second: str) -> tuple[str, str]:
    """A lab and a student, whichever was named first.

    Raises:
        CourseError: neither is a lab.
    """
    if first not in course.labs and second in course.labs:
        return second, first
    if first not in course.labs:
        known = ", ".join(course.labs)
        raise CourseError(f"course.toml has no lab {first!r} or {second!r}; it has {known}")
    return first, second


def short_path(path: Path, course: Course) -> str:
    """A path for people: from the course's folder on, if it is in there."""
    return str(path.relative_to(course.root)) if path.is_relative_to(course.root) else str(path)


def fail(message: str) -> NoReturn:
    """End the command with one sentence and exit status 1."""
    say(f"lab: {message}", err=True)
    sys.exit(1)


def say(sentence: str, err: bool = False) -> None:
    """Print a sentence for people, broken between words if it is longer than a line."""
    from gradekit.wording import fitted

    typer.echo(fitted(sentence, (sys.stderr if err else sys.stdout).isatty()), err=err)
