"""``lab mark``: marks free-text answers on a local page.

It imports what it needs when it runs, so that help is fast. Tested in
tests/gradekit/marking/test_commands.py.
"""

from __future__ import annotations

from typing import Annotated

import typer

from gradekit.cli.common import TA, Lab, Root, course_at, fail
from gradekit.cli.plain_help import Verbs

app = Verbs()


@app.command(rich_help_panel=TA)
def mark(
    lab: Lab,
    share: Annotated[
        str, typer.Option(help="Your share, if several TAs mark: 1/3, 2/3 or 3/3.")
    ] = "1/1",
    marker: Annotated[
        str, typer.Option("--as", help="Your name, stored with each mark that you give.")
    ] = "",
    port: Annotated[int, typer.Option(help="The port of the page; by default a free one.")] = 0,
    course_folder: Root = None,
) -> None:
    """Mark free-text answers on a local page, without names."""
    from gradekit.marking.pile import Share
    from gradekit.marking.server import MarkingServer
    from gradekit.marking.session import Marking

    if not 0 <= port <= 65535:
        fail(f"--port {port}: a port is a number up to 65535; leave it out for a free one")
    marking = Marking(course_at(course_folder), lab, Share.parse(share), marker)
    server = MarkingServer(marking, port)
    done, of = marking.progress
    typer.echo(f"{lab}: {done} of {of} answers are marked. Open this address, for you only:")
    typer.echo(f"  {server.address}")
    typer.echo("Every mark is saved at once. Press Ctrl+C here to end.")
    server.run()
    done, of = marking.progress
    left = f"{of - done} left" if of > done else "none left"
    typer.echo(f"\n{lab}: {done} of {of} answers are marked, {left}.")
