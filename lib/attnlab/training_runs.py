"""The same training as several commands: in other precisions, compiled, in several processes.

Each training is a process of its own, ``python -m attnlab.train``, so its memory is its own as
well. ``benchmarks/training.py`` and lab 8 compare them.

Tested in ``tests/attnlab/test_training_runs.py``.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import torch

import attnlab
from attnlab.devices import missing_compiler
from attnlab.training_config import TrainingError


@dataclass(frozen=True)
class Way:
    """A way to run the same training.

    Attributes:
        name: for tables.
        settings: those in which it differs.
        processes: how many train together.
    """

    name: str
    settings: tuple[str, ...] = ()
    processes: int = 1


@dataclass(frozen=True)
class Run:
    """What a training took and what came out.

    Attributes:
        name: of its way.
        tokens_per_second: of all processes together: the median over the lines of the log, without
            the first, in which a compiler works.
        memory: the most bytes of one process.
        loss: of the validation set, in nats per token.
        exact_match: the share of the validation set that is translated without a mistake.
        cpu_seconds: of everything, start and measurement included.
        weights: the file.
    """

    name: str
    tokens_per_second: float
    memory: int
    loss: float
    exact_match: float
    cpu_seconds: float
    weights: Path


PLAIN = Way("fp32")


def ways(device: torch.device) -> list[Way]:
    """The ways to train that this machine has for a device, float32 first."""
    found = [PLAIN, Way("bf16", ("dtype=bf16",))]
    if device.type == "cuda":
        found.append(Way("fp16", ("dtype=fp16",)))
    if missing_compiler(device) is None:
        found.append(Way("compiled", ("compile=true",)))
    if device.type == "cpu" or (device.type == "cuda" and torch.cuda.device_count() > 1):
        found.append(Way("two processes", processes=2))
    return found


def train_each(
    task: str,
    some: Sequence[Way],
    folder: Path,
    settings: Sequence[str] = (),
    parts: Path | None = None,
) -> Iterator[Run]:
    """Train in several ways, one after the other.

    Args:
        task: a task of ``python -m attnlab.train``.
        some: the ways.
        folder: for checkpoints and logs, one folder in it for each way. A training that is in it
            goes on from there.
        settings: of all of them, such as "steps=400".
        parts: a file with functions to train with.

    Yields:
        Each training when it has ended.

    Raises:
        TrainingError: a training has failed; with its own last words.
    """
    for way in some:
        yield train(task, way, folder / way.name.replace(" ", "-"), settings, parts)


def train(
    task: str, way: Way, folder: Path, settings: Sequence[str] = (), parts: Path | None = None
) -> Run:
    """Train in one way; see `train_each`."""
    start = _cpu_seconds()
    done = subprocess.run(  # noqa: S603 - our own command
        command(task, way, folder, settings, parts),
        check=False, capture_output=True, text=True, env=_environment(),
    )  # fmt: skip
    if done.returncode != 0:
        words = [line for line in done.stderr.splitlines() if line.strip()]
        last = words[-1].strip() if words else _without_words(done.returncode)
        raise TrainingError(f"the training {way.name!r} has failed: {last}")
    events = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return _run(way.name, events, _cpu_seconds() - start)


def command(
    task: str, way: Way, folder: Path, settings: Sequence[str] = (), parts: Path | None = None
) -> list[str]:
    """The command of a training."""
    together = ["torch.distributed.run", "--standalone", "--nproc-per-node", str(way.processes)]
    start = [*together, "-m"] if way.processes > 1 else []
    own = [] if parts is None else ["--parts", str(parts)]
    pairs = [word for setting in (*settings, *way.settings) for word in ("--set", setting)]
    words = [sys.executable, "-m", *start, "attnlab.train", task, *pairs, *own, "--json"]
    return [*words, "--out", str(folder)]


def _without_words(status: int) -> str:
    if status == -signal.SIGKILL:
        return "it was killed from outside, as happens if memory is full; close other programs"
    return f"it ended with status {status} and said nothing"


def _run(name: str, events: Sequence[Mapping[str, Any]], cpu_seconds: float) -> Run:
    log = [event for event in events if event["event"] == "log"]
    end = next((event for event in events if event["event"] == "end"), None)
    if not log or end is None:
        raise TrainingError(f"the training {name!r} had nothing left to do; give another folder")
    return Run(
        name,
        median(event["tokens_per_second"] for event in log[1:] or log),
        max(event["memory"] for event in log),
        log[-1]["validation_loss"],
        end["exact_match"],
        cpu_seconds,
        Path(end["weights"]),
    )


def _environment() -> dict[str, str]:
    """One thread for each process, so that two do not share their cores with more threads.

    PYTHONWARNINGS is left out. With "error", torch's compiler ends with a deprecation of its own.
    """
    library = str(Path(attnlab.__file__).resolve().parents[1])
    paths = [library, *filter(None, [os.environ.get("PYTHONPATH")])]
    outer = {name: value for name, value in os.environ.items() if name != "PYTHONWARNINGS"}
    return {**outer, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}


def _cpu_seconds() -> float:
    """Processor time of all processes that this one has started and that have ended."""
    times = os.times()
    return times.children_user + times.children_system
