"""The ``lab`` command. Each verb imports what it needs when it runs, so that help is fast."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from gradekit import new_cli, roster_cli

if TYPE_CHECKING:
    from gradekit.course import Course

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Attention Labs: build, release, hand in, grade and return labs on Transformers.",
)

STUDENT, TA, INSTRUCTOR = "Student", "TA", "Instructor"
app.add_typer(new_cli.app, name="new", rich_help_panel=INSTRUCTOR)
app.add_typer(roster_cli.app, name="roster", rich_help_panel=TA)

Lab = Annotated[str, typer.Argument(help="The lab, such as lab01.", metavar="LAB")]
Labs = Annotated[list[str] | None, typer.Argument(help="Labs; all if none is named.")]
Root = Annotated[
    Path | None,
    typer.Option("--course", help="The course's folder; by default the nearest with course.toml."),
]
Jobs = Annotated[int, typer.Option(help="Worker processes; 0 for one per core.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def main() -> None:
    """Run the command; an error that the user can correct is one sentence and exit status 1."""
    with _plain_errors():
        app()


@app.command(rich_help_panel=STUDENT)
def submit(
    folder: Annotated[Path, typer.Argument(help="The folder with your notebook.")] = Path(),
) -> None:
    """Pack a hand-in and list its contents."""
    import attnlab

    attnlab.submit(folder)


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

    course = _course(course_folder)
    chosen = _chosen(course, labs)
    if check:
        drifted = find_drift(CourseLabs(course), chosen)
        for line in drifted:
            typer.echo(line)
        if drifted:
            _fail("The notebooks do not match the sources; run `lab build`.")
        typer.echo(f"{', '.join(chosen)}: the notebooks match the sources.")
        return
    for path in build_labs(CourseLabs(course), chosen):
        typer.echo(f"wrote {path.relative_to(course.root)}")


@app.command(rich_help_panel=INSTRUCTOR)
def verify(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Labs, or one lab and some of its exercises; all labs if none is named."
        ),
    ] = None,
    as_json: Json = False,
    mutants: Annotated[bool, typer.Option(help="Also test mutants of the reference.")] = True,
    jobs: Jobs = 0,
    course_folder: Root = None,
) -> None:
    """Prove that the checks catch every known mistake and reject no right answer."""
    from gradekit.build.unfinished import disagreements
    from gradekit.exercise.loader import load_lab
    from gradekit.verify.proof import to_json
    from gradekit.verify.view import show_proofs, verify_labs

    course = _course(course_folder)
    surprises = 0
    labs, exercises = _labs_and_exercises(course, names or [])
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
        typer.Argument(help="Labs; all whose release date has passed if none is named."),
    ] = None,
    due: Annotated[
        bool, typer.Option("--due", help="All labs whose release date has passed.")
    ] = False,
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
    from datetime import UTC, datetime

    from gradekit.build.bundle import release_bundle
    from gradekit.build.calendar import with_date_passed
    from gradekit.errors import LabError
    from gradekit.exercise.loader import CourseLabs
    from gradekit.feedback.solution_notebook import write_solutions

    course, now = _course(course_folder), datetime.now(UTC)
    chosen = _chosen(course, labs)
    if due or not (labs or early):
        chosen = with_date_passed(course, chosen, now, solutions=solutions)
    loaded, failed = CourseLabs(course), False
    for lab in chosen:
        try:
            if solutions:
                typer.echo(f"{lab}: {_short(write_solutions(loaded, lab, now), course)}")
                continue
            for line in release_bundle(loaded, lab, now, early=early, exchange=exchange):
                typer.echo(f"{lab}: {line}")
        except LabError as error:  # the other labs are made all the same
            typer.echo(f"lab: {error}", err=True)
            failed = True
    if failed:
        raise typer.Exit(1)


@app.command(rich_help_panel=TA)
def collect(
    lab: Lab,
    sources: Annotated[list[Path], typer.Argument(help="Folders or zips of hand-ins.")],
    times: Annotated[
        Path | None,
        typer.Option(
            help="Who handed in when: Moodle's grading worksheet, Gradescope's "
            "submission_metadata.yml, or a CSV with the columns id and when."
        ),
    ] = None,
    in_time: Annotated[
        bool, typer.Option("--in-time", help="Hand-ins without a known time were on time.")
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

    course = _course(course_folder)
    course.dates(lab)
    summary = collect_submissions(course, lab, sources, Options(new, times, in_time, dry_run))
    if as_json:
        typer.echo(json.dumps(summary.to_json(), ensure_ascii=False))
    elif dry_run:
        from gradekit.submissions.view import show_collected

        show_collected(summary, lab)
    else:
        for line in summary.lines():
            typer.echo(line)
    if not summary.taken:
        _fail(f"no hand-in for {lab} was taken from {', '.join(map(str, sources))}")


@app.command(rich_help_panel=TA)
def withdraw(
    student: Annotated[str, typer.Argument(help="The student's id.", metavar="STUDENT")],
    lab: Lab,
    force: Annotated[
        bool, typer.Option("--force", help="Even if marks given by hand are lost.")
    ] = False,
    course_folder: Root = None,
) -> None:
    """Take one hand-in out again: files, results, gradebook and feedback."""
    from gradekit.gradebook.withdraw import withdraw as take_out

    course = _course(course_folder)
    withdrawn = take_out(course, lab, student, force)
    kept = f"; the files are kept in {_short(withdrawn.kept, course)}" if withdrawn.kept else ""
    typer.echo(f"{student}: {lab} was withdrawn{kept}")
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
        str | None, typer.Option(help="A Dask scheduler, such as tcp://HOST:8786.")
    ] = None,
    as_json: Json = False,
    course_folder: Root = None,
) -> None:
    """Grade the hand-ins: run them in a sandbox, judge them, write the gradebook."""
    from gradekit.grading.grade import Settings, grade_lab
    from gradekit.grading.view import progress_bar, show_summary

    course = _course(course_folder)
    settings = Settings(jobs, sandbox, again, students, cluster)
    with progress_bar(quiet=as_json) as progress:
        summary = grade_lab(course, lab, settings, progress)
    if as_json:
        typer.echo(json.dumps([row.to_json() for row in summary.rows]))
    else:
        show_summary(summary)
    if summary.broken_ours:
        raise typer.Exit(1)


@app.command(rich_help_panel=TA)
def feedback(
    lab: Lab,
    solutions: Annotated[
        bool | None,
        typer.Option(help="Tell the right answers; by default as soon as the lab has closed."),
    ] = None,
    course_folder: Root = None,
) -> None:
    """Write one page of feedback per student."""
    from datetime import UTC, datetime

    from gradekit.feedback.page import write_feedback
    from gradekit.late import answers_from

    course, now = _course(course_folder), datetime.now(UTC)
    told = None
    if solutions or (solutions is None and now > answers_from(course, lab)):
        from gradekit.exercise.loader import CourseLabs
        from gradekit.feedback.solutions import solutions_of

        told = solutions_of(CourseLabs(course), lab, now)
    pages = write_feedback(course, lab, told)
    where = _short(pages[0].parent.parent.parent, course) if pages else "feedback"
    answers = ", with the right answers" if told else ""
    typer.echo(f"{lab}: {len(pages)} pages in {where}/<student>/{lab}/{answers}")


@app.command(rich_help_panel=TA)
def export(
    labs: Annotated[
        list[str] | None, typer.Argument(help="Labs; all that have results if none is named.")
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
        bool, typer.Option("--partial", help="Also if parts still wait for a mark.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="The file; by default one in exports/.")] = None,
    as_json: Json = False,
    course_folder: Root = None,
) -> None:
    """Write final scores: as a table, or into a file of Canvas or Moodle."""
    from gradekit.export.export import export as write_export
    from gradekit.export.export import final_scores, format_named

    course = _course(course_folder)
    found = final_scores(course, _named(course, labs), partial=partial)
    if as_json:
        lists = {lab: [score.to_json() for score in scores] for lab, scores in found.items()}
        typer.echo(json.dumps(lists, ensure_ascii=False))
        return
    kind = format_named(to)
    for written in write_export(
        course, found, kind, template=template, column=column, scale=scale, out=out
    ):
        for line in written.lines:
            typer.echo(line)
        typer.echo(f"wrote {_short(written.path, course)}")


@app.command(rich_help_panel=TA)
def doctor(course_folder: Root = None) -> None:
    """Report what this machine has, what is missing, and how to install it."""
    from gradekit.doctor import examine

    findings = examine(course_folder or Path.cwd())
    for finding in findings:
        typer.echo(finding.lines(get_terminal_size().columns))
    if not all(finding.ok or not finding.needed for finding in findings):
        raise typer.Exit(1)


def _course(folder: Path | None) -> Course:
    from gradekit.course import find_root, load_course

    return load_course(folder or find_root(Path.cwd()))


def _chosen(course: Course, labs: list[str] | None) -> list[str]:
    return _named(course, labs) or list(course.labs)


def _named(course: Course, labs: list[str] | None) -> list[str]:
    for lab in labs or []:
        course.dates(lab)
    return list(labs or [])


def _labs_and_exercises(course: Course, names: list[str]) -> tuple[list[str], list[str]]:
    """The labs in `names`; names that follow a single lab and are not labs are its exercises."""
    if len(names) > 1 and names[1] not in course.labs:
        return _chosen(course, names[:1]), names[1:]
    return _chosen(course, names), []


def _short(path: Path, course: Course) -> str:
    return str(path.relative_to(course.root)) if path.is_relative_to(course.root) else str(path)


@contextmanager
def _plain_errors() -> Iterator[None]:
    """One sentence for an error that the user can correct; bugs keep their traceback."""
    from gradekit.errors import LabError

    try:
        yield
    except (LabError, OSError) as error:
        _fail(_sentence(error))


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'a file'}: {error.strerror}"
    return str(error)


def _fail(message: str) -> NoReturn:
    typer.echo(f"lab: {message}", err=True)
    sys.exit(1)


if __name__ == "__main__":
    main()
