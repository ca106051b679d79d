"""`make demo`: lab 1 from its source to the gradebook, with a class of about ninety.

Everything happens in the folder build/demo/, which is recreated each time, with the commands that a
user would type. At the end each student's points are checked against the expected mark.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path[0:1] = [str(REPOSITORY / name) for name in ("lib", "autograder", ".")]

from rich.console import Console  # noqa: E402
from rich.markup import escape  # noqa: E402
from rich.rule import Rule  # noqa: E402

TARGET = REPOSITORY / "build" / "demo"
if not os.access(os.path.expanduser("~"), os.W_OK):  # matplotlib would complain three times
    os.environ.setdefault("MPLCONFIGDIR", str(REPOSITORY / "build" / "matplotlib"))
# The width of tables in a file or a log; a terminal knows its own width.
if not sys.stdout.isatty():
    os.environ.setdefault("COLUMNS", "120")


def main() -> int:
    """Run the demo; 0 if every student got the expected mark."""
    from demo.classroom import LAB, classroom
    from demo.comparison import compare, scores_in_book, show
    from demo.course_folder import SMALL_LIMITS, copy_course
    from demo.incoming import write_incoming
    from gradekit.course import load_course
    from gradekit.errors import SandboxUnavailableError
    from gradekit.sandbox.levels import choose

    start, console = time.monotonic(), Console()
    try:
        choose()  # `lab grade` says it later; without any, the demo ends here
    except SandboxUnavailableError as error:
        console.print(f"[red]{escape(str(error))}[/]", highlight=False, soft_wrap=True)
        return 1
    _say(console, "A new course", f"in {_short(TARGET)}/, with small limits for infinite loops")
    if TARGET.exists():
        shutil.rmtree(TARGET)
    copy_course(TARGET, SMALL_LIMITS)

    _say(console, "The instructor", "builds the notebooks and the students' bundle")
    _lab(console, "build", LAB)
    _lab(console, "release", LAB, "--early")  # whatever the date is

    _say(console, "The class hands in", "folders, zips, and a zip as Canvas makes it")
    with console.status("writing the hand-ins and computing the expected marks"):
        incoming = write_incoming(classroom(load_course(TARGET)), TARGET / "incoming", LAB)
    hostile = sum(submission.hostile for submission in incoming.submissions)
    console.print(f"{len(incoming.submissions)} hand-ins, {hostile} of them hostile")
    _lab(console, "collect", LAB, *(str(path.relative_to(TARGET)) for path in incoming.sources))

    _say(console, "The TA grades", "in a sandbox, and writes feedback")
    _lab(
        console, "grade", LAB, may_fail=True
    )  # it fails if the grader broke a hand-in; the table shows that
    _lab(console, "feedback", LAB, "--no-solutions")

    _say(console, "The marks", "checked against the expected ones")
    rows = json.loads(_lab(console, "grade", LAB, "--json", read=True, may_fail=True))
    results = compare(incoming.submissions, rows, scores_in_book(load_course(TARGET), LAB))
    show(console, results)
    _where_to_look(console, time.monotonic() - start)
    return 0 if all(result.ok for result in results) else 1


def _say(console: Console, what: str, more: str) -> None:
    console.print()
    console.print(Rule(f"[bold]{what}[/] {more}", align="left"))


def _lab(console: Console, *arguments: str, read: bool = False, may_fail: bool = False) -> str:
    """Run `lab` in the demo's course as a user would; end the demo if it fails and must not."""
    console.print(f"[bold cyan]$ lab {escape(shlex.join(arguments))}[/]", highlight=False)
    done = subprocess.run(
        [sys.executable, "-m", "gradekit.cli", *arguments],
        cwd=TARGET,
        stdout=subprocess.PIPE if read else None,
        text=True,
    )
    if done.returncode and not may_fail:
        console.print(f"[red]`lab {arguments[0]}` ended with status {done.returncode}.[/]")
        sys.exit(1)
    return done.stdout if read else ""


def _where_to_look(console: Console, seconds: float) -> None:
    from demo.classroom import LAB

    folder, programs = _short(TARGET), os.path.relpath(Path(sys.executable).parent, TARGET)
    lines: Sequence[tuple[str, str]] = (
        ("gradebook", f"{folder}/gradebook.db (nbgrader's own; SQLite)"),
        ("feedback", f"{folder}/feedback/<student>/{LAB}/{LAB}.html, for example half's"),
        ("formgrader", f"cd {folder} && {programs}/jupyter lab   (menu Nbgrader, Formgrader)"),
        ("again", f"cd {folder} && {programs}/lab grade {LAB}   (grades only new hand-ins)"),
    )
    console.print()
    for what, where in lines:
        console.print(f"[bold]{what:11}[/] {escape(where)}", highlight=False, soft_wrap=True)
    console.print(f"\nThe demo took {seconds:.0f} s.", highlight=False)


def _short(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


if __name__ == "__main__":
    sys.exit(main())
