"""The verbs of ``lab roster``. Each imports what it needs when it runs, so that help is fast.

Tested in tests/gradekit/roster/test_commands.py.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from gradekit.cli.common import Root, course_at, say
from gradekit.cli.plain_help import Verbs

app = Verbs(invoke_without_command=True)


@app.callback()
def show_roster(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
    course_folder: Root = None,
) -> None:
    """Show who takes the course, from students.csv."""
    if context.invoked_subcommand:
        return
    from gradekit.roster.students import load_roster
    from gradekit.roster.view import show, to_json

    students = load_roster(course_at(course_folder).root)
    if as_json:
        typer.echo(json.dumps(to_json(students), ensure_ascii=False))
    else:
        show(students)


@app.command("import")
def import_list(
    file: Annotated[Path, typer.Argument(help="A list of people, as CSV.", metavar="FILE")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would change; write nothing.")
    ] = False,
    course_folder: Root = None,
) -> None:
    """Bring a list from Canvas, Moodle, Gradescope or GitHub Classroom into students.csv."""
    from gradekit.roster.csv_table import read_table
    from gradekit.roster.merge import lines_of, merge
    from gradekit.roster.students import FILE_NAME, load_roster, write_roster

    course = course_at(course_folder)
    before = load_roster(course.root)
    merged = merge(before, read_table(file))
    for line in lines_of(merged, file.name):
        say(line)
    if dry_run:
        typer.echo("nothing was written")
        return
    if merged.roster != before:
        write_roster(course.root, merged.roster)
    from gradekit.gradebook.update import enrol

    enrol(course, merged.roster)
    typer.echo(f"{FILE_NAME} lists {len(merged.roster)} students; nbgrader's gradebook has them")
