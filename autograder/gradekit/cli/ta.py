"""What a TA types: from hand-ins to marks and pages.

Each verb imports what it needs when it runs, so that help is fast. Tested in
tests/gradekit/cli/test_cli.py and with the packages that it calls.
"""

from __future__ import annotations

import json
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated

import typer

from gradekit.cli.common import (
    TA,
    Jobs,
    Json,
    Lab,
    Root,
    course_at,
    fail,
    lab_and_student,
    named_labs,
    say,
    short_path,
)
from gradekit.cli.plain_help import Verbs

if TYPE_CHECKING:
    from gradekit.course import Course
    from gradekit.feedback.solutions import Solutions

app = Verbs()

WithSolutions = Annotated[
    bool | None,
    typer.Option(help="Include the right answers; by default once the lab has closed."),
]


@app.command(rich_help_panel=TA)
def collect(
    lab: Lab,
    sources: Annotated[
        list[Path], typer.Argument(help="Folders or zips of hand-ins.", metavar="SOURCES")
    ],
    times: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="PATH",
            help="Who handed in when: Moodle's grading worksheet, Gradescope's "
            "submission_metadata.yml, GitHub Classroom's grades, or a CSV with the columns id and "
            "when. May be repeated.",
        ),
    ] = None,
    groups: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="PATH",
            help="Who is in which group, if groups handed in together: Moodle's grading "
            "worksheet, Canvas's list of groups, or a CSV with the columns id and group. May be "
            "repeated.",
        ),
    ] = None,
    on_time: Annotated[
        bool, typer.Option("--on-time", help="Hand-ins without a known time were on time.")
    ] = False,
    new: Annotated[
        bool, typer.Option("--new", help="Also take people who are not in students.csv.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show who, what and when; write nothing.")
    ] = False,
    as_json: Json = False,
    course_folder: Root = None,
) -> None:
    """Bring hand-ins from folders, zips and downloads of course systems into submitted/."""
    from gradekit.submissions.collect import Options, collect_submissions

    course = course_at(course_folder)
    course.lab(lab)
    options = Options(new, tuple(times or ()), tuple(groups or ()), on_time, dry_run)
    summary = collect_submissions(course, lab, sources, options)
    if as_json:
        typer.echo(json.dumps(summary.to_json(), ensure_ascii=False))
    elif dry_run:
        from gradekit.submissions.view import show_collected

        show_collected(summary, lab)
    else:
        for line in summary.lines():
            say(line)
    if not summary.taken:
        fail(f"no hand-in for {lab} was taken from {', '.join(map(str, sources))}")


@app.command(rich_help_panel=TA)
def withdraw(
    student: Annotated[str, typer.Argument(help="The student's id.", metavar="STUDENT")],
    lab: Lab,
    force: Annotated[bool, typer.Option("--force", help="Even if manual marks are lost.")] = False,
    course_folder: Root = None,
) -> None:
    """Take one hand-in out again: files, results, gradebook and feedback."""
    from gradekit.gradebook.withdraw import withdraw as take_out

    course = course_at(course_folder)
    lab, student = lab_and_student(course, lab, student)
    withdrawn = take_out(course, lab, student, force)
    kept = f"; the files are kept in {short_path(withdrawn.kept, course)}" if withdrawn.kept else ""
    say(f"{student}: {lab} was withdrawn{kept}")
    for name in withdrawn.removed:
        typer.echo(f"removed {name}")


@app.command(rich_help_panel=TA)
def grade(
    lab: Lab,
    students: Annotated[
        list[str] | None, typer.Option("--student", help="Only this student; may be repeated.")
    ] = None,
    jobs: Jobs = 0,
    sandbox: Annotated[
        str,
        typer.Option(
            help="auto (bubblewrap if this machine has it, else landlock), bubblewrap, landlock "
            "(weaker), or none (only for code you trust)."
        ),
    ] = "auto",
    again: Annotated[bool, typer.Option("--again", help="Regrade what is already graded.")] = False,
    cluster: Annotated[
        str | None,
        typer.Option(help="Grade on the machines of this Dask scheduler, such as tcp://HOST:8786."),
    ] = None,
    as_json: Json = False,
    course_folder: Root = None,
) -> None:
    """Grade the hand-ins: run them in a sandbox, judge them, write the gradebook."""
    from gradekit.grading.grade import Settings, grade_lab
    from gradekit.grading.view import progress_bar, show_summary

    course = course_at(course_folder)
    settings = Settings(jobs, sandbox, again, students, cluster)
    with progress_bar(quiet=as_json) as progress:
        summary = grade_lab(course, lab, settings, progress)
    if as_json:
        typer.echo(json.dumps(summary.to_json()))
    else:
        show_summary(summary)
    if summary.broken_ours:
        raise typer.Exit(1)


@app.command(rich_help_panel=TA)
def feedback(
    lab: Lab,
    solutions: WithSolutions = None,
    course_folder: Root = None,
) -> None:
    """Write one page of feedback per student."""
    from gradekit.feedback.page import write_feedback
    from gradekit.wording import counted

    course = course_at(course_folder)
    right_answers = _right_answers(course, lab, solutions)
    pages = write_feedback(course, lab, right_answers)
    if not pages:
        fail(f"{lab} has no results yet, so no page was written; `lab grade {lab}` makes them")
    where = short_path(pages[0].parent.parent.parent, course)
    answers = ", with the right answers" if right_answers else ""
    say(f"{lab}: {counted(len(pages), 'page')} in {where}/<student>/{lab}/{answers}")


def _right_answers(course: Course, lab: str, wanted: bool | None) -> Solutions | None:
    """The right answers for the pages, if wanted; by default as soon as the lab has closed."""
    from datetime import UTC, datetime

    from gradekit.late import answers_public_after

    now = datetime.now(UTC)
    if wanted is False or (wanted is None and now <= answers_public_after(course, lab)):
        return None
    from gradekit.exercise.loader import CourseLabs
    from gradekit.feedback.solutions import solutions_of

    return solutions_of(CourseLabs(course), lab, now)


@app.command("return", rich_help_panel=TA)
def return_(
    lab: Lab,
    way: Annotated[
        str, typer.Option("--as", help="moodle, canvas, ilias, exchange, mail or folder.")
    ] = "folder",
    partial: Annotated[
        bool, typer.Option("--partial", help="Also pages with parts that need manual grading.")
    ] = False,
    solutions: WithSolutions = None,
    out: Annotated[
        Path | None, typer.Option(help="The zip or the folder; by default one in exports/.")
    ] = None,
    as_json: Json = False,
    course_folder: Root = None,
) -> None:
    """Give the feedback pages back: through Moodle, Canvas or ILIAS, by mail, or in folders."""
    from gradekit.returns.returns import return_pages, way_named

    course, kind = course_at(course_folder), way_named(way)
    right_answers = _right_answers(course, lab, solutions)
    returned = return_pages(course, lab, kind, right_answers, partial=partial, out=out)
    if as_json:
        typer.echo(json.dumps(returned.to_json(), ensure_ascii=False))
        return
    for line in returned.lines():
        say(line)
    typer.echo(f"wrote {short_path(returned.file, course)}")


@app.command(rich_help_panel=TA)
def export(
    labs: Annotated[
        list[str] | None,
        typer.Argument(help="Labs; all that have results if none is named.", metavar="LABS"),
    ] = None,
    to: Annotated[str, typer.Option(help="csv, xlsx, json, canvas or moodle.")] = "csv",
    template: Annotated[
        Path | None,
        typer.Option(
            "--template",
            "--worksheet",
            help="Canvas's exported gradebook or Moodle's grading worksheet, to fill a copy of.",
        ),
    ] = None,
    column: Annotated[
        str | None, typer.Option(help="The assignment in Canvas's gradebook, by title or number.")
    ] = None,
    scale: Annotated[
        bool, typer.Option("--scale", help="Convert to the points that the system counts.")
    ] = False,
    partial: Annotated[
        bool, typer.Option("--partial", help="Also if parts still need manual grading.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="The file; by default one in exports/.")] = None,
    as_json: Json = False,
    course_folder: Root = None,
) -> None:
    """Write final scores: as a table, or into a file of Canvas or Moodle."""
    from gradekit.export.export import export as write_export
    from gradekit.export.export import final_scores, format_named

    course, kind = course_at(course_folder), format_named(to)
    found = final_scores(course, named_labs(course, labs), partial=partial)
    if as_json:
        lists = {lab: [score.to_json() for score in scores] for lab, scores in found.items()}
        typer.echo(json.dumps(lists, ensure_ascii=False))
        return
    for written in write_export(
        course, found, kind, template=template, column=column, scale=scale, out=out
    ):
        for line in written.lines:
            say(line)
        typer.echo(f"wrote {short_path(written.path, course)}")


@app.command(rich_help_panel=TA)
def term(
    to: Annotated[
        str | None, typer.Option(help="Write a file instead: csv or xlsx.", metavar="KIND")
    ] = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="Also if something still needs manual grading.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="The file; by default exports/term.csv or .xlsx.")
    ] = None,
    as_json: Json = False,
    course_folder: Root = None,
) -> None:
    """Show one table over all labs: weights, dropped labs, late days, and the result."""
    from datetime import UTC, datetime

    from gradekit.term.tables import write_term
    from gradekit.term.term import term_table
    from gradekit.term.view import show_term

    course = course_at(course_folder)
    table = term_table(course, datetime.now(UTC), partial=partial)
    path = write_term(table, to, out) if to or out else None
    if as_json:
        typer.echo(json.dumps(table.to_json(), ensure_ascii=False))
    else:
        show_term(table, with_rows=path is None)
    if path:
        typer.echo(f"wrote {short_path(path, course)}", err=as_json)


@app.command(rich_help_panel=TA)
def doctor(course_folder: Root = None) -> None:
    """Report what this machine has, what is missing, and how to install it."""
    from gradekit.doctor import examine

    findings = examine(course_folder or Path.cwd())
    for finding in findings:
        typer.echo(finding.lines(get_terminal_size().columns))
    if not all(finding.ok or not finding.needed for finding in findings):
        raise typer.Exit(1)
