"""``lab verify`` as people see it: progress, a table, and each surprise in a sentence."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from rich.console import Console
from rich.progress import track
from rich.table import Table

from gradekit.catalog import load_lab
from gradekit.course import Course
from gradekit.paper import Paper
from gradekit.verify import ExerciseProof, verify_exercise


def verify_lab(
    course: Course, lab: str, with_mutants: bool, quiet: bool = False
) -> list[ExerciseProof]:
    """Prove every exercise of `lab`, with a progress bar on a terminal unless `quiet`."""
    torch.set_num_threads(1)  # the tensors are small: threads cost more than they give
    exercises = load_lab(course, lab)
    paper = Paper(exercises)
    bar = track(
        exercises.exercises,
        description=f"verifying {lab}",
        console=Console(stderr=True),
        disable=quiet,
        transient=True,
    )
    return [verify_exercise(paper, exercise, with_mutants) for exercise in bar]


def show(lab: str, proofs: Iterable[ExerciseProof]) -> None:
    """Print the table and the surprises."""
    proofs = list(proofs)
    console = Console()
    console.print(_table(lab, proofs))
    surprises = [(proof.name, line) for proof in proofs for line in proof.surprises()]
    for name, line in surprises:
        console.print(f"[red]{name}[/]: {line}", highlight=False)
    if not surprises:
        console.print(f"{lab}: every mistake caught, no right answer rejected.", style="green")


def _table(lab: str, proofs: list[ExerciseProof]) -> Table:
    table = Table(title=f"{lab}: are its checks right?")
    for heading in ("exercise", "points", "reference", "blank", "mistakes caught", "advised",
                    "right answers kept", "mutants caught", "equivalent", "seconds"):  # fmt: skip
        table.add_column(heading, justify="left" if heading == "exercise" else "right")
    for proof in proofs:
        table.add_row(
            proof.name,
            f"{proof.points:g}",
            f"{proof.reference:g}",
            f"{proof.blank:g}",
            _share([mistake.lost > 0 for mistake in proof.mistakes]),
            _share([mistake.advised for mistake in proof.mistakes]),
            _share([points == proof.points for _, points, _ in proof.also_right]),
            f"{proof.mutants.caught} of {proof.mutants.made}",
            f"{proof.mutants.equivalent}",
            f"{proof.seconds:.1f}",
        )
    return table


def _share(flags: list[bool]) -> str:
    return f"{sum(flags)} of {len(flags)}"
