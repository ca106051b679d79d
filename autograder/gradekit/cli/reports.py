"""What staff read: `lab status`, `lab report` for a class, and `lab show` for one student.

Each verb imports what it needs when it runs, so that help is fast. Tested in
tests/gradekit/report/test_commands.py.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gradekit.cli.common import (
    TA,
    Json,
    Lab,
    Root,
    course_at,
    fail,
    lab_and_student,
    short_path,
)
from gradekit.cli.plain_help import Verbs

if TYPE_CHECKING:
    from datetime import datetime

    from gradekit.course import Course
    from gradekit.grading.task import Replayed
    from gradekit.report.show import Shown

app = Verbs()


@app.command(rich_help_panel=TA)
def report(
    lab: Annotated[
        str | None, typer.Argument(help="The lab, such as lab01.", metavar="LAB")
    ] = None,
    term: Annotated[
        bool, typer.Option("--term", help="All labs, with a line for each student by name.")
    ] = False,
    names: Annotated[
        bool, typer.Option("--names/--anonymous", help="Name the students; by default, do not.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="The file; by default one in reports/.")] = None,
    as_json: Json = False,
    course_folder: Root = None,
) -> None:
    """Show what the class understood, and write it as one page."""
    from datetime import UTC, datetime

    if term == bool(lab):
        fail("lab report shows one lab, or with --term all of them: name a lab or give --term")
    course, now = course_at(course_folder), datetime.now(UTC)
    if lab:
        _report_lab(course, lab, now, names, out, as_json)
    else:
        _report_term(course, now, out, as_json)


def _report_lab(
    course: Course, lab: str, now: datetime, names: bool, out: Path | None, as_json: bool
) -> None:
    from gradekit.report.report import make_report

    made = make_report(course, lab, now)
    if as_json:
        typer.echo(json.dumps(made.to_json(names), ensure_ascii=False))
        return
    from gradekit.report.page import write_report
    from gradekit.report.view import show_report

    path = write_report(course, made, names, out)
    show_report(made)
    typer.echo(f"wrote {short_path(path, course)}")


def _report_term(course: Course, now: datetime, out: Path | None, as_json: bool) -> None:
    from gradekit.report.weeks import weeks_of
    from gradekit.term.term import term_table

    made = weeks_of(term_table(course, now, partial=True), now)
    if as_json:
        typer.echo(json.dumps(made.to_json(), ensure_ascii=False))
        return
    from gradekit.report.page import write_weeks
    from gradekit.report.view import show_weeks

    path = write_weeks(course, made, out)
    show_weeks(made)
    typer.echo(f"wrote {short_path(path, course)}")


@app.command(rich_help_panel=TA)
def show(
    lab: Lab,
    student: Annotated[str, typer.Argument(help="The student's id.", metavar="STUDENT")],
    step: Annotated[
        str | None,
        typer.Argument(help="One step, such as softmax or 1.1, with its code.", metavar="STEP"),
    ] = None,
    inputs: Annotated[
        bool,
        typer.Option(
            "--inputs",
            help="For staff: run the hand-in again, and show the inputs of the checks that "
            "failed, the expected results and the student's.",
        ),
    ] = False,
    sandbox: Annotated[
        str, typer.Option(help="With --inputs: how the hand-in is confined, as for lab grade.")
    ] = "auto",
    as_json: Json = False,
    course_folder: Root = None,
) -> None:
    """Show what one student handed in, the points by step, and the advice."""
    from gradekit.report.inputs_view import show_inputs
    from gradekit.report.show import show_hand_in
    from gradekit.report.show_view import show_step, show_student

    course = course_at(course_folder)
    shown = show_hand_in(course, *lab_and_student(course, lab, student))
    if step is not None:
        shown.step(step)  # an unknown one is an error, also for programs
    replayed = _replayed(course, shown, step, sandbox) if inputs else ()
    if as_json:
        more = {"inputs": [asdict(one) for one in replayed]} if inputs else {}
        typer.echo(json.dumps({**shown.to_json(), **more}, ensure_ascii=False))
        return
    if step is not None:
        show_step(shown, step)
    else:
        show_student(shown)
    if inputs:
        show_inputs(shown, replayed)


def _replayed(course: Course, shown: Shown, step: str | None, sandbox: str) -> tuple[Replayed, ...]:
    """The steps that lost points, run again; only `step` if it is given."""
    from gradekit.grading.replay import replay

    steps = shown.failed_steps(step)
    page = shown.page
    return replay(course, page.lab, page.student, steps, sandbox) if steps else ()


@app.command(rich_help_panel=TA)
def status(as_json: Json = False, course_folder: Root = None) -> None:
    """Show where every lab is: due, handed in, graded, to mark, and what waits."""
    from datetime import UTC, datetime

    from gradekit.report.status import status_of

    found = status_of(course_at(course_folder), datetime.now(UTC))
    if as_json:
        typer.echo(json.dumps([one.to_json() for one in found]))
        return
    from gradekit.report.status_view import show_status

    show_status(found)
