"""The speed of this grader, compared with nbgrader, Otter and a minimal grader (the floor).

    python benchmarks/grading.py            about a quarter of an hour
    python benchmarks/grading.py --quick    five minutes: smaller classes, no repetition
    python benchmarks/grading.py --json     for programs

Everything is measured in one run, on this machine, with the same submissions of lab 1, by the
commands that a user would type, start-up included. The spread is that of whole repetitions.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Annotated

HERE = Path(__file__).resolve().parent
sys.path[0:1] = [
    str(path) for path in (
        HERE.parent / "lib", HERE.parent / "autograder", HERE, HERE.parent
    )
]  # fmt: skip

import torch  # noqa: E402
import typer  # noqa: E402
from classes import assert_right, some_class  # noqa: E402
from contenders import Floor, Otter, Ours, PlainNbgrader  # noqa: E402
from machine import machine  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402

from demo.usage import CommandError, Usage  # noqa: E402
from gradekit.untrusted.limits import MIB  # noqa: E402

OTTER_HOME = HERE.parent / "build" / "otter"


@dataclass(frozen=True)
class Plan:
    """The size of the measurement.

    Attributes:
        few: submissions for nbgrader and Otter.
        small, large: submissions for this grader, to see whether cost and memory grow with a class;
            the floor gets the small class.
        repeats: number of runs, except with the large class.
    """

    few: int
    small: int
    large: int
    repeats: int


FULL = Plan(few=10, small=100, large=1000, repeats=3)
# The small class is as large: the budgets are for a class of 100, whose start-up counts little.
QUICK = Plan(few=4, small=100, large=200, repeats=1)


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        key: its name in JSON.
        values: one for each repetition.
        budget: the value must be at least this (``least``) or at most this; None if nothing is
            promised.
    """

    key: str
    what: str
    values: tuple[float, ...]
    budget: float | None = None
    least: bool = False

    @property
    def value(self) -> float:
        """The median."""
        return median(self.values)

    @property
    def met(self) -> bool:
        """Whether the value keeps to the budget."""
        if self.budget is None:
            return True
        return self.value >= self.budget if self.least else self.value <= self.budget


def main(
    quick: Annotated[bool, typer.Option(help="Smaller classes, no repetition.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
    jobs: Annotated[int, typer.Option(help="Worker processes, ours and Otter's.")] = 2,
) -> None:
    """Measure, print the table, and fail if a budget is exceeded."""
    plan, console = QUICK if quick else FULL, Console(stderr=as_json)
    with (
        tempfile.TemporaryDirectory(prefix="benchmark-") as folder,
        console.status("making the class") as status,
    ):
        rows = _measure(Path(folder), plan, jobs, lambda text: status.update(text))
    if as_json:
        values: dict[str, float | None] = dict.fromkeys(("otter_per_min", "ratio_otter"))
        print(json.dumps(values | {row.key: round(row.value, 3) for row in rows}))
    else:
        _show(console, rows, plan, jobs)
    sys.exit(not all(row.met for row in rows))


def _measure(folder: Path, plan: Plan, jobs: int, say: Callable[[str], None]) -> list[Row]:
    ours = Ours(folder, jobs)
    everyone = some_class(ours.course, plan.large)
    small, few = everyone.first(plan.small), everyone.first(plan.few)
    floor, nbgrader = Floor(folder, ours.course), PlainNbgrader(folder)
    otter = _otter(folder, jobs, say)
    runs: dict[str, list[Usage]] = {"ours": [], "floor": [], "nbgrader": [], "otter": []}
    for number in range(1, plan.repeats + 1):
        # In turns, so that a machine that slows down affects all of them.
        say(f"run {number} of {plan.repeats}: ours")
        ours.fresh(small)
        runs["ours"].append(ours.grade(with_memory=True))
        assert_right(ours.course, small, json.loads(runs["ours"][-1].said))
        say(f"run {number} of {plan.repeats}: the floor")
        runs["floor"].append(floor.grade(small, jobs))
        say(f"run {number} of {plan.repeats}: nbgrader autograde")
        runs["nbgrader"].append(nbgrader.grade(few))
        if otter is not None:
            say(f"run {number} of {plan.repeats}: otter run")
            runs["otter"].append(otter.grade(few))
    say(f"ours, {plan.large} hand-ins")
    ours.fresh(everyone)
    large = ours.grade(with_memory=True)
    assert_right(ours.course, everyone, json.loads(large.said))
    say("ours, nothing new")
    again = [ours.grade().seconds for _ in range(plan.repeats)]
    return _rows(plan, runs, large, again)


def _rows(plan: Plan, runs: dict[str, list[Usage]], large: Usage, again: list[float]) -> list[Row]:
    def per_minute(grader: str, count: int) -> list[float]:
        return [60 * count / run.seconds for run in runs[grader]]

    ours, small = 60 * plan.large / large.seconds, per_minute("ours", plan.small)
    nbgrader, otter = per_minute("nbgrader", plan.few), per_minute("otter", plan.few)
    cpu = [run.cpu_seconds for run in runs["ours"]]
    each = large.cpu_seconds / plan.large
    grown = large.late_bytes / median(run.late_bytes for run in runs["ours"])
    rows = [
        Row("ours_per_min", f"hand-ins per minute, ours, a class of {plan.large}", (ours,)),
        Row("ours_small_per_min", f"the same, a class of {plan.small}", tuple(small)),
        Row("nbgrader_per_min", "hand-ins per minute, nbgrader autograde", tuple(nbgrader)),
        Row("ratio_nbgrader", "ours ÷ nbgrader", tuple(ours / n for n in nbgrader), 20, least=True),
        Row("cpu_each", "CPU seconds per hand-in, ours", tuple(c / plan.small for c in cpu)),
        Row("cpu_over_floor", "CPU of ours ÷ CPU of the floor",
            tuple(c / run.cpu_seconds for c, run in zip(cpu, runs["floor"], strict=True)), 2),
        Row("rss_mib", f"MiB of all processes at most, a class of {plan.large}",
            (large.peak_bytes / MIB,), 1536),
        Row("rss_large_over_small", f"MiB in the second half ÷ those of a class of {plan.small}",
            (grown,), 1.1),
        Row("cost_1000_over_100", f"CPU per hand-in, class of {plan.large} ÷ {plan.small}",
            tuple(each / (c / plan.small) for c in cpu), 1.1),
        Row("nothing_new_s", "lab grade with nothing new, seconds", tuple(again), 2),
    ]  # fmt: skip
    if otter:
        rows[4:4] = [
            Row("otter_per_min", "hand-ins per minute, otter run", tuple(otter)),
            Row("ratio_otter", "ours ÷ otter", tuple(ours / n for n in otter)),
        ]
    return rows


def _otter(folder: Path, jobs: int, say: Callable[[str], None]) -> Otter | None:
    """Otter in an environment of its own, made on the first run; None if it is unavailable."""
    program = OTTER_HOME / "bin" / "otter"
    if not program.exists():
        say("installing Otter, the first time")
        venv.create(OTTER_HOME, with_pip=True)
        wanted = ["-r", str(HERE / "otter.txt"), f"torch=={torch.__version__.partition('+')[0]}"]
        pip = [OTTER_HOME / "bin" / "python", "-m", "pip", "install", "--quiet", "--quiet", *wanted]
        if subprocess.run(pip, check=False).returncode:
            Console(stderr=True).print("Otter cannot be installed here, so it is not measured.")
            return None
    return Otter(folder, program, jobs)


def _show(console: Console, rows: list[Row], plan: Plan, jobs: int) -> None:
    table = Table()
    table.add_column("lab 1")
    for heading in ("median", "spread", "budget"):
        table.add_column(heading, justify="right")
    for row in rows:
        spread = f"{min(row.values):.3g} – {max(row.values):.3g}" if len(row.values) > 1 else ""
        sign = "≥" if row.least else "≤"
        budget = "" if row.budget is None else f"{sign} {row.budget:g}"
        colour = "green" if row.met else "bold red"
        table.add_row(row.what, f"{row.value:.3g}", spread, f"[{colour}]{budget}[/]")
    console.print(table)
    console.print(
        f"{machine()}; {jobs} workers; classes of {plan.small} and {plan.large}, "
        f"nbgrader and Otter {plan.few}; {plan.repeats} runs, in turns.",
        highlight=False,
        soft_wrap=True,
    )


if __name__ == "__main__":
    try:
        typer.run(main)
    except CommandError as error:
        sys.exit(f"A measured command failed: {error}")
