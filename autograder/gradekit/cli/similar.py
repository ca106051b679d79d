"""``lab similar``: hand-ins that agree more than chance explains.

It imports what it needs when it runs, so that help is fast. Tested in
tests/gradekit/similarity/test_commands.py.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from gradekit.cli.common import TA, Json, Lab, Root, course_at, short_path
from gradekit.cli.plain_help import Verbs

app = Verbs()


@app.command(rich_help_panel=TA)
def similar(
    lab: Lab,
    earlier: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Earlier classes: folders of their courses, or folders and zips of hand-ins.",
            metavar="EARLIER",
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The page; by default one in reports/.")] = None,
    as_json: Json = False,
    course_folder: Root = None,
) -> None:
    """Show hand-ins that agree where few others do, side by side on a page."""
    from gradekit.similarity.compare import compare
    from gradekit.similarity.hand_ins import read_class

    course = course_at(course_folder)
    found = compare(read_class(course, lab, earlier or []))
    if as_json:
        from gradekit.similarity.words import to_json

        typer.echo(json.dumps(to_json(found), ensure_ascii=False))
        return
    from gradekit.similarity.page import write_page
    from gradekit.similarity.view import show

    path = write_page(course, found, out)
    show(found)
    typer.echo(f"wrote {short_path(path, course)}")
