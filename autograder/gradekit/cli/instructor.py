"""What an instructor types: from a lab's source to the students' bundle.

Each verb imports what it needs when it runs, so that help is fast. Tested in
tests/gradekit/cli/test_cli.py and with the packages that it calls.
"""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated

import typer

from gradekit.cli.common import (
    INSTRUCTOR,
    Jobs,
    Json,
    Labs,
    Root,
    chosen_labs,
    course_at,
    fail,
    labs_and_exercises,
    say,
    short_path,
)
from gradekit.cli.plain_help import Verbs

app = Verbs()


@app.command(rich_help_panel=INSTRUCTOR)
def init(
    folder: Annotated[Path, typer.Argument(help="A new folder.", metavar="FOLDER")],
    name: Annotated[str, typer.Option(help="The course's name.")] = "Transformers from scratch",
    start: Annotated[
        str | None,
        typer.Option(
            metavar="YYYY-MM-DD",
            help="The day on which the first lab is released; by default next Monday.",
        ),
    ] = None,
) -> None:
    """Make a new course's folder: course.toml, the labs, notes for staff."""
    from gradekit.build.new_course import new_course, next_monday

    try:
        first_day = date.fromisoformat(start) if start else next_monday(date.today())
    except ValueError:
        fail(f"--start {start}: write a day like 2027-02-15")
    course = new_course(folder, name, first_day)
    labs = course.labs
    say(
        f"wrote {folder}: {len(labs)} labs, the first released on {first_day:%a %d %b %Y}, the "
        f"last due on {course.lab(labs[-1]).due:%a %d %b %Y}"
    )
    say(f"Read {folder / 'README.md'}, and correct {folder / 'course.toml'}.")


@app.command(rich_help_panel=INSTRUCTOR)
def build(
    labs: Labs = None,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; fail if notebooks and sources differ.")
    ] = False,
    course_folder: Root = None,
) -> None:
    """Build the solved notebooks and the students' notebooks from the sources."""
    from gradekit.build.build import build_labs, find_drift
    from gradekit.exercise.loader import CourseLabs

    course = course_at(course_folder)
    chosen = chosen_labs(course, labs)
    if check:
        drifted = find_drift(CourseLabs(course), chosen)
        for line in drifted:
            typer.echo(line)
        if drifted:
            fail("The notebooks do not match the sources; run `lab build`.")
        typer.echo(f"{', '.join(chosen)}: the notebooks match the sources.")
        return
    for path in build_labs(CourseLabs(course), chosen):
        typer.echo(f"wrote {path.relative_to(course.root)}")


@app.command(rich_help_panel=INSTRUCTOR)
def verify(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Labs, or one lab and some of its exercises; all labs if none is named.",
            metavar="NAMES",
        ),
    ] = None,
    as_json: Json = False,
    mutants: Annotated[
        bool, typer.Option(help="Also test small automatic changes of the reference (mutants).")
    ] = True,
    jobs: Jobs = 0,
    course_folder: Root = None,
) -> None:
    """Prove that the checks catch every known mistake and reject no right answer."""
    from gradekit.build.unfinished import disagreements
    from gradekit.exercise.loader import load_lab
    from gradekit.verify.proof import to_json
    from gradekit.verify.view import show_proofs, verify_labs

    course = course_at(course_folder)
    surprises = 0
    labs, exercises = labs_and_exercises(course, names or [])
    found = verify_labs(course, labs, exercises, mutants, jobs, quiet=as_json)
    for lab, proofs in found.items():
        wrong = [] if exercises else list(disagreements(course, load_lab(course, lab)))
        if as_json:
            typer.echo(json.dumps(to_json(lab, proofs, wrong)))
        else:
            show_proofs(lab, proofs, with_promises=bool(exercises), disagreements=wrong)
        surprises += sum(len(list(proof.surprises())) for proof in proofs) + len(wrong)
    if surprises:
        raise typer.Exit(1)


@app.command(rich_help_panel=INSTRUCTOR)
def release(
    labs: Annotated[
        list[str] | None,
        typer.Argument(
            help="Labs; all whose release date has passed if none is named.", metavar="LABS"
        ),
    ] = None,
    early: Annotated[
        bool, typer.Option("--early", help="Also labs whose release date has not passed.")
    ] = False,
    exchange: Annotated[
        bool, typer.Option("--exchange", help="Also publish to nbgrader's exchange.")
    ] = False,
    solutions: Annotated[
        bool, typer.Option("--solutions", help="Make the model solutions of labs that have closed.")
    ] = False,
    course_folder: Root = None,
) -> None:
    """Make the students' bundle: notebook, visible checks, blank library, environment."""
    from gradekit.build.bundle import release_bundle
    from gradekit.build.calendar import with_date_passed
    from gradekit.errors import LabError
    from gradekit.exercise.loader import CourseLabs
    from gradekit.feedback.solution_notebook import write_solutions

    course, now = course_at(course_folder), datetime.now(UTC)
    chosen = chosen_labs(course, labs)
    if not (labs or early):
        chosen = with_date_passed(course, chosen, now, solutions=solutions)
    loaded, failed = CourseLabs(course), False
    for lab in chosen:
        try:
            if solutions:
                typer.echo(f"{lab}: {short_path(write_solutions(loaded, lab, now), course)}")
                continue
            for line in release_bundle(loaded, lab, now, early=early, exchange=exchange):
                say(f"{lab}: {line}")
        except LabError as error:  # the other labs are made all the same
            say(f"lab: {error}", err=True)
            failed = True
    if failed:
        raise typer.Exit(1)
