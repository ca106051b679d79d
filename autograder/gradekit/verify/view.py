"""Terminal output of ``lab verify``: progress, a table, and one sentence per surprise."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
from rich.box import SIMPLE_HEAD
from rich.console import Console, JustifyMethod
from rich.markup import escape
from rich.progress import track
from rich.table import Table

from gradekit.course import Course
from gradekit.errors import CourseError
from gradekit.exercise.definition import Exercise
from gradekit.exercise.loader import LabExercises, load_lab
from gradekit.exercise.variants import Variants
from gradekit.grading.pool import cores, run
from gradekit.verify.proof import ExerciseProof, PromisesProof
from gradekit.verify.verify import verify_exercise


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
    # Wrong versions and mutants call torch in ways of which it warns, a thousand times.
    with warnings.catch_warnings(action="ignore"):
        return verify_exercise(variants, variants.lab[task.exercise], task.with_mutants)


@lru_cache(maxsize=1)
def _variants(course: Course, lab: str) -> Variants:
    return Variants(load_lab(course, lab))


def show_proofs(
    lab: str,
    proofs: Iterable[ExerciseProof],
    with_promises: bool = False,
    disagreements: Sequence[str] = (),
) -> None:
    """Print the table and the surprises; before them, if asked, each task's sentences.

    Args:
        disagreements: what does not add up in the lab as a whole.
    """
    proofs = list(proofs)
    console = Console()
    if with_promises:
        for proof in proofs:
            _show_promises(console, proof)
    console.print(_table(lab, proofs))
    without = [p.name for p in proofs if p.promises.sentences and not p.promises.declared]
    if without:
        console.print(f"No table of promises yet: {', '.join(without)}.", highlight=False)
    surprises = [(proof.name, line) for proof in proofs for line in proof.surprises()]
    for name, line in surprises:
        console.print(f"[red]{name}[/]: {escape(line)}", highlight=False)
    for proof in proofs:
        _show_survivors(console, proof)
    for line in disagreements:
        console.print(f"[red]{lab}[/]: {escape(line)}", highlight=False)
    if not surprises and not disagreements:
        console.print(f"{lab}: every mistake caught, no right answer rejected.", style="green")


def _show_survivors(console: Console, proof: ExerciseProof) -> None:
    """Lines to paste into the exercise for mutants that no check can catch, never wrapped."""
    if not proof.mutants.survived:
        return
    console.print(
        f"{proof.name}: add a check for each surviving mutant. If one computes the same as the "
        "reference, say why:",
        style="bold",
    )
    lines = [
        f'        {json.dumps(label, ensure_ascii=False)}: "",' for label in proof.mutants.survived
    ]
    text = "\n".join(["    equivalent={", *lines, "    },"])
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def _show_promises(console: Console, proof: ExerciseProof) -> None:
    """The sentences of a task beside their checks; without a table, one to fill in."""
    promises = proof.promises
    if not promises.sentences:
        return
    if not promises.declared:
        lines = [f'        {one.text!r}: "",' for one in promises.sentences]
        text = "\n".join(["exercise.promises(", "    {", *lines, "    }", ")"])
        console.print(f"{proof.name} has no table of promises. One to fill in:", style="bold")
        console.print(text, markup=False, highlight=False, soft_wrap=True)
        return
    table = Table(title=f"{proof.name}: what its task promises", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("sentence")
    table.add_column("held by")
    for one in promises.sentences:
        names = [*one.checks, *(["(explained)"] if one.explained else [])]
        table.add_row(escape(one.text), "\n".join(names) or "[red]no check[/]")
    console.print(table)


def _promised(promises: PromisesProof) -> str:
    return f"{promises.held}/{len(promises.sentences)}" if promises.declared else "–"


def _table(lab: str, proofs: list[ExerciseProof]) -> Table:
    table = Table(title=f"{lab}: are its checks right?", box=SIMPLE_HEAD, padding=0, pad_edge=False)
    headings = (
        "exercise", "points", "right\nearns", "blank\nearns", "wrong\ncaught", "wrong\nnamed",
        "others\nkept", "mutants", "text\nheld", "s",
    )  # fmt: skip
    for heading in headings:
        is_name = heading == "exercise"
        justify: JustifyMethod = "left" if is_name else "right"
        table.add_column(heading, justify=justify, no_wrap=not is_name, overflow="fold")
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
            _promised(proof.promises),
            f"{proof.seconds:.1f}",
        )
    return table


def _fraction(flags: list[bool]) -> str:
    return f"{sum(flags)}/{len(flags)}"
