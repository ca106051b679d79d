"""Terminal output of ``lab verify``: progress, a table, and one sentence per surprise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
from rich.box import SIMPLE_HEAD
from rich.console import Console, JustifyMethod
from rich.progress import track
from rich.table import Table

from gradekit.course import Course
from gradekit.errors import CourseError
from gradekit.exercise.definition import Exercise
from gradekit.exercise.loader import LabExercises, load_lab
from gradekit.exercise.variants import Variants
from gradekit.grading.pool import cores, run
from gradekit.verify.verify import ExerciseProof, verify_exercise


@dataclass(frozen=True)
class _Task:
    """One exercise to prove, in a worker process."""

    course: Course
    lab: str
    exercise: str
    with_mutants: bool


def verify_labs(
    course: Course,
    labs: Sequence[str],
    exercises: Sequence[str],
    with_mutants: bool,
    jobs: int = 0,
    quiet: bool = False,
) -> dict[str, list[ExerciseProof]]:
    """Prove exercises of `labs`, with a progress bar on a terminal unless `quiet`.

    Args:
        exercises: only these; all if empty.

    Raises:
        CourseError, ExerciseError: a lab's files contradict each other, or lack an exercise.
    """
    tasks = [
        _Task(course, lab, exercise.name, with_mutants)
        for lab in labs
        for exercise in _chosen(load_lab(course, lab), exercises)
    ]
    bar = track(
        run(_prove, tasks, min(jobs or cores(), len(tasks))),
        total=len(tasks),
        description=f"verifying {', '.join(labs)}",
        console=Console(stderr=True),
        disable=quiet,
        transient=True,
    )
    proofs: dict[_Task, ExerciseProof] = {}
    for task, proof in bar:
        if isinstance(proof, Exception):
            raise proof
        proofs[task] = proof
    return {lab: [proofs[task] for task in tasks if task.lab == lab] for lab in labs}


def _chosen(lab: LabExercises, names: Sequence[str]) -> list[Exercise]:
    known = [exercise.name for exercise in lab.exercises]
    for name in names:
        if name not in known:
            raise CourseError(f"{lab.lab} has no exercise {name!r}; it has {', '.join(known)}")
    return [exercise for exercise in lab.exercises if not names or exercise.name in names]


def _prove(task: _Task) -> ExerciseProof:
    torch.set_num_threads(1)  # the tensors are small: threads cost more time than they save
    variants = _variants(task.course, task.lab)
    return verify_exercise(variants, variants.lab[task.exercise], task.with_mutants)


@lru_cache(maxsize=1)
def _variants(course: Course, lab: str) -> Variants:
    return Variants(load_lab(course, lab))


def show_proofs(lab: str, proofs: Iterable[ExerciseProof]) -> None:
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
    table = Table(
        title=f"{lab}: are its checks right?", box=SIMPLE_HEAD, padding=(0, 0, 0, 1), pad_edge=False
    )
    headings = (
        "exercise", "points", "right\nearns", "blank\nearns", "wrong\ncaught", "wrong\nadvised",
        "others\nkept", "mutants", "s",
    )  # fmt: skip
    for heading in headings:
        justify: JustifyMethod = "left" if heading == "exercise" else "right"
        table.add_column(heading, justify=justify, no_wrap=heading == "exercise")
    for proof in proofs:
        table.add_row(
            proof.name,
            f"{proof.points:g}",
            f"{proof.reference:g}",
            f"{proof.blank:g}",
            _fraction([mistake.lost > 0 for mistake in proof.mistakes]),
            _fraction([mistake.advised for mistake in proof.mistakes]),
            _fraction([points == proof.points for _, points, _ in proof.also_right]),
            f"{proof.mutants.caught}/{proof.mutants.made - proof.mutants.equivalent}",
            f"{proof.seconds:.1f}",
        )
    return table


def _fraction(flags: list[bool]) -> str:
    return f"{sum(flags)}/{len(flags)}"
