"""The verbs of ``lab new``. Each imports what it needs when it runs, so that help is fast.

Tested in tests/gradekit/build/test_new.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gradekit.cli.common import Root, course_at
from gradekit.cli.plain_help import Verbs

if TYPE_CHECKING:
    from gradekit.course import Course

app = Verbs(no_args_is_help=True, help="Write the files of a new lab or exercise.")

Lab = Annotated[str, typer.Argument(help="The lab, such as lab12.", metavar="LAB")]


@app.command("lab")
def new_lab(
    lab: Lab,
    title: Annotated[str, typer.Argument(help='Its title, such as "Masks".', metavar="TITLE")],
    course_folder: Root = None,
) -> None:
    """Add a lab to course.toml and write its source; `lab new exercise` adds its steps."""
    from gradekit.build import new

    course = course_at(course_folder)
    _written(course, new.new_lab(course, lab, title), f"lab new exercise {lab} NAME")


@app.command("exercise")
def new_exercise(
    lab: Lab,
    name: Annotated[
        str, typer.Argument(help="Its name, which is the function's, too.", metavar="NAME")
    ],
    points: Annotated[int, typer.Option(min=2, help="What it is worth.")] = 10,
    course_folder: Root = None,
) -> None:
    """Write an exercise with its reference, and add its cells to the lab's source."""
    from gradekit.build import new

    course = course_at(course_folder)
    written = new.new_exercise(course, lab, name, points)
    _written(course, written, f"lab verify {lab} {name}")


def _written(course: Course, paths: list[Path], following: str) -> None:
    for path in paths:
        inside = path.is_relative_to(course.root)
        typer.echo(f"wrote {path.relative_to(course.root) if inside else path}")
    typer.echo(f"Fill in each FILL IN; next: {following}")
