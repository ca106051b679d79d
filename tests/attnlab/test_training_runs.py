"""Trainings as commands: what they are called with, and what is read from their logs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from attnlab import training_runs
from attnlab.training_config import TrainingError
from attnlab.training_runs import PLAIN, Way, command, train_each, ways

TINY = (
    "examples=40", "validation=10", "d_model=8", "num_heads=2", "d_ff=16", "batch_tokens=80",
    "steps=4", "log_every=1",
)  # fmt: skip


def test_the_ways_of_a_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_runs, "missing_compiler", lambda device: "a C++ compiler")
    assert [way.name for way in ways(torch.device("cpu"))] == ["fp32", "bf16", "two processes"]
    monkeypatch.setattr(training_runs, "missing_compiler", lambda device: None)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    names = [way.name for way in ways(torch.device("cuda"))]
    assert names == ["fp32", "bf16", "fp16", "compiled"]


def test_the_command_of_a_way(tmp_path: Path) -> None:
    words = command("numbers", Way("two", ("dtype=bf16",), 2), tmp_path, ("steps=3",), Path("p.py"))
    text = " ".join(words[1:])
    assert text == (
        "-m torch.distributed.run --standalone --nproc-per-node 2 -m attnlab.train numbers "
        f"--set steps=3 --set dtype=bf16 --parts p.py --json --out {tmp_path}"
    )


def test_a_warning_of_torchs_own_does_not_end_a_training(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    loud = "import warnings; warnings.warn('deprecated', DeprecationWarning)"
    here, own = (
        subprocess.run([sys.executable, "-S", "-c", loud], env=environment, capture_output=True)
        for environment in (os.environ, training_runs._environment())
    )
    assert (here.returncode, own.returncode) == (1, 0)


def test_a_training_is_measured(tmp_path: Path) -> None:
    (run,) = train_each("copy", [PLAIN], tmp_path, TINY)
    assert run.name == "fp32"
    assert run.tokens_per_second > 0
    assert run.memory > 2**20
    assert 0 < run.loss < 10
    assert 0 <= run.exact_match <= 1
    assert run.cpu_seconds > 0
    assert run.weights.is_file()
    with pytest.raises(TrainingError, match="had nothing left to do; give another folder"):
        next(train_each("copy", [PLAIN], tmp_path, TINY))


@pytest.mark.parametrize(
    ("ending", "message"),
    [
        ("os.kill(os.getpid(), 9)", "'fp32' has failed: it was killed from outside, as happens"),
        ("sys.exit(3)", "'fp32' has failed: it ended with status 3 and said nothing"),
    ],
)
def test_a_training_that_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, message: str
) -> None:
    words = [sys.executable, "-S", "-c", f"import os, sys; {ending}"]
    monkeypatch.setattr(training_runs, "command", lambda *arguments: words)
    with pytest.raises(TrainingError, match=message):
        next(train_each("copy", [PLAIN], tmp_path))


def test_a_training_that_fails_says_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match=r"'fp32' has failed: .*steps must be 1 or more"):
        next(train_each("copy", [PLAIN], tmp_path, ("steps=0",)))
