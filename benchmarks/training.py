"""The same training in float32, in 16 bits, compiled, and in two processes.

    python benchmarks/training.py            four minutes on two cores
    python benchmarks/training.py --quick    a minute and a half, with models that are half trained
    python benchmarks/training.py --json     for programs

A row is one run of `python -m attnlab.train`: lab 7's translator of numbers in words. Every way to
train has the same seed, so the same first weights and the same batches. One table and one row of
bars come from one run. Without --device, the runs are on the CPU, each process with one thread.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

HERE = Path(__file__).resolve().parent
sys.path[0:1] = [str(HERE.parent / "lib"), str(HERE)]

import torch  # noqa: E402
import typer  # noqa: E402
from machine import machine  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402

from attnlab.devices import DeviceError, missing_compiler, pick_device  # noqa: E402
from attnlab.training_config import TrainingError  # noqa: E402
from attnlab.training_runs import Run, train_each, ways  # noqa: E402

STEPS, QUICK = 1200, 200
WIDTH = 12  # characters of the longest bar: the table fits in a terminal of 80


def main(
    quick: Annotated[bool, typer.Option(help="Fewer updates.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
    device: Annotated[str, typer.Option(help="cpu, cuda, mps or auto.")] = "cpu",
) -> None:
    """Train in every way that this machine has, and print what it took and what came out."""
    console = Console(stderr=as_json)
    steps = QUICK if quick else STEPS
    settings = [f"steps={steps}", f"log_every={steps // 8}", f"save_every={steps}"]
    runs: list[Run] = []
    try:
        place = pick_device(device)
        with TemporaryDirectory() as folder, console.status("training"):
            own = [*settings, f"device={place.type}"]
            for run in train_each("numbers", ways(place), Path(folder), own):
                runs.append(run)
                console.print(f"{run.name}: {run.cpu_seconds:.0f} CPU seconds", highlight=False)
    except (DeviceError, TrainingError) as error:
        raise SystemExit(str(error)) from error
    said = about(place, steps)
    if as_json:
        rows = [{**asdict(run), "weights": None} for run in runs]
        print(json.dumps({"rows": rows, "about": said}))
        return
    console.print(table(runs))
    console.print(said, highlight=False)


def table(runs: list[Run]) -> Table:
    """A row for each run; a bar is its speed as a share of the fastest, "exact" its exact match."""
    shown = Table()
    for heading in ("way", "tokens/s", "", "MiB", "loss", "exact", "CPU s"):
        shown.add_column(heading, justify="left" if heading in ("way", "") else "right")
    fastest = max(run.tokens_per_second for run in runs)
    for run in runs:
        bar = "█" * max(1, round(WIDTH * run.tokens_per_second / fastest))
        numbers = f"{run.memory / 2**20:.0f}", f"{run.loss:.4f}", f"{run.exact_match:.1%}"
        speed = f"{run.tokens_per_second:,.0f}"
        shown.add_row(run.name, speed, bar, *numbers, f"{run.cpu_seconds:.0f}")
    return shown


def about(place: torch.device, steps: int) -> str:
    """What was run, and where."""
    on = torch.cuda.get_device_name(place) if place.type == "cuda" else place.type
    missing = missing_compiler(place)
    without = "" if missing is None else f"; not compiled, {missing} is not there"
    return f"numbers, {steps} updates of 2,048 tokens, on {on}{without}; {machine()}"


if __name__ == "__main__":
    typer.run(main)
