"""The command itself: its verbs, and one sentence for an error that a person can correct.

Tested in tests/gradekit/cli/test_cli.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from gradekit.cli import instructor, mark, new, reports, roster, similar, ta
from gradekit.cli.common import INSTRUCTOR, STUDENT, TA, fail
from gradekit.cli.plain_help import PlainGroup, Verbs

# As a week goes.
VERBS = (
    "submit",
    *("init", "new", "build", "verify", "release"),
    *("doctor", "roster", "collect", "withdraw", "grade", "mark", "similar"),
    *("feedback", "return", "export", "report", "show", "status", "term"),
)


class _InOrder(PlainGroup):
    """Lists the verbs in the order in which they are used, whatever file they are in."""

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(self.commands, key=VERBS.index)


app = Verbs(
    cls=_InOrder,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

app.add_typer(instructor.app)
app.add_typer(new.app, name="new", rich_help_panel=INSTRUCTOR)
app.add_typer(ta.app)
app.add_typer(reports.app)
app.add_typer(similar.app)
app.add_typer(mark.app)
app.add_typer(roster.app, name="roster", rich_help_panel=TA)


@app.command(rich_help_panel=STUDENT)
def submit(
    folder: Annotated[
        Path, typer.Argument(help="The folder with your notebook.", metavar="FOLDER")
    ] = Path(),
) -> None:
    """Pack a hand-in and list its contents."""
    import attnlab

    attnlab.submit(folder)


def _show_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"Attention Labs {version('attention-labs')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Attention Labs: build, release, hand in, grade and return labs on Transformers."""


def main() -> None:
    """Run the command; an error that the user can correct is one sentence and exit status 1."""
    with _plain_errors():
        app()


@contextmanager
def _plain_errors() -> Iterator[None]:
    """One sentence for an error that the user can correct; bugs keep their traceback."""
    from gradekit.errors import LabError

    try:
        yield
    except (LabError, OSError) as error:
        fail(_sentence(error))


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'a file'}: {error.strerror}"
    return str(error)
