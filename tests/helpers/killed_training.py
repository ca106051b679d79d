"""Kill a training at random moments, with SIGKILL, and go on; compare with one that ran through.

    python -m tests.helpers.killed_training FOLDER COUNT

Prints one JSON record. A process that has imported everything forks the trainings, so that many
kills cost little; it starts no thread and trains nothing itself.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import torch
import torch._dynamo  # an optimiser imports it, which takes a second

from attnlab.checkpoints import MODEL, STATE, TRAINING, kept, read
from attnlab.train import main

SETTINGS = (
    "examples=60", "validation=20", "d_model=8", "num_heads=2", "d_ff=16", "layers=1",
    "batch_tokens=80", "log_every=7", "save_every=4", "keep=2",
)  # fmt: skip


def start(folder: Path, steps: int) -> int:
    """Begin or go on with a training in a new process; returns its id."""
    child = os.fork()
    if child:
        return child
    with contextlib.suppress(BaseException):
        settings = [part for one in (*SETTINGS, f"steps={steps}") for part in ("--set", one)]
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
            os._exit(main(["copy", "--out", str(folder), *settings]))
    os._exit(99)


def step(folder: Path) -> int:
    """The step of the newest checkpoint; 0 if there is none."""
    found = read(folder)
    return found.state["step"] if found else 0


def run(folder: Path, kills: int) -> dict[str, object]:
    """Train once without and once with interruptions."""
    torch.set_num_threads(1)
    whole, killed, steps = folder / "whole", folder / "killed", 15 * kills
    begin = time.monotonic()
    child = start(whole, steps)
    while not (whole / "last").exists():
        time.sleep(0.01)
    first = time.monotonic() - begin  # it reads the data before it trains
    assert os.waitpid(child, 0)[1] == 0
    share = (time.monotonic() - begin - first) / kills
    reached, while_writing, chance = [], 0, random.Random(kills)
    while len(reached) < kills:
        child = start(killed, steps)
        time.sleep(0.7 * first + chance.uniform(0, 2) * share)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        reached.append(step(killed))
        while_writing += (killed / ".part").exists()
    assert os.waitpid(start(killed, steps), 0)[1] == 0
    same = [
        (place / name).read_bytes() == (killed / place.name / name).read_bytes()
        for place in kept(whole)
        for name in (MODEL, TRAINING, STATE)
    ]
    return {
        "reached": reached,
        "in_the_middle": sum(0 < step < steps for step in reached),
        "while_writing": while_writing,
        "files": len(same),
        "same": all(same),
    }


if __name__ == "__main__":
    print(json.dumps(run(Path(sys.argv[1]), int(sys.argv[2]))))
