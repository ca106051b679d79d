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

from attnlab.checkpoints import kept, read
from attnlab.train import main

SETTINGS = (
    "examples=60", "d_model=8", "num_heads=2", "d_ff=16", "layers=1", "batch_tokens=80", "steps=60",
    "log_every=7", "save_every=4", "keep=2",
)  # fmt: skip


def start(folder: Path) -> int:
    """Begin or go on with a training in a new process; returns its id."""
    child = os.fork()
    if child:
        return child
    with contextlib.suppress(BaseException):
        settings = [part for setting in SETTINGS for part in ("--set", setting)]
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
    begin = time.monotonic()
    assert os.waitpid(start(folder / "whole"), 0)[1] == 0
    whole = time.monotonic() - begin
    steps, part_files, chance = [], 0, random.Random(kills)
    while len(steps) < kills:
        child = start(folder / "killed")
        # Each one gets a bit further than a random share of what is left.
        time.sleep(whole * chance.uniform(0.1, 1.5) / kills + 0.3 * whole)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        steps.append(step(folder / "killed"))
        part_files += (folder / "killed" / ".part").exists()
    assert os.waitpid(start(folder / "killed"), 0)[1] == 0
    same = [
        (folder / "whole" / name).read_bytes() == (folder / "killed" / name).read_bytes()
        for place in kept(folder / "whole")
        for name in (f"{place.name}/{file.name}" for file in place.iterdir())
    ]
    return {
        "steps": steps,
        "killed_while_writing": part_files,
        "files": len(same),
        "same": all(same),
    }


if __name__ == "__main__":
    print(json.dumps(run(Path(sys.argv[1]), int(sys.argv[2]))))
