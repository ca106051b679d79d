"""Lab 7's translator of numbers, trained in several ways with the functions of a file.

Each training is a command of its own (:mod:`attnlab.training_runs`). The settings are those of lab
8: as many updates as are needed for a good translator, within a minute on one core.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from attnlab import checkpoints
from attnlab.data import numbers
from attnlab.data.vocabulary import split_words
from attnlab.devices import missing_compiler
from attnlab.notebook.check import GRADING_VARIABLE
from attnlab.own_parts import parts_of
from attnlab.training_config import TrainerConfig, TrainingError
from attnlab.training_runs import Run, train_each, ways
from attnlab.translation import TranslatorConfig, numbers_task, written

STEPS = 400
SETTINGS = (f"steps={STEPS}", "log_every=50", f"save_every={STEPS}", "batch_tokens=2048")
CPU = torch.device("cpu")


@dataclass(frozen=True)
class Trained:
    """A training, and what its model writes for 500 numbers that it has not seen.

    Attributes:
        run: what it took.
        hypotheses: the French words that it writes for each number.
        references: the right words for each, in a list, because there could be several.
    """

    run: Run
    hypotheses: list[list[str]]
    references: list[list[list[str]]]


def train_all(
    parts: Path | None, device: torch.device = CPU, settings: Sequence[str] = SETTINGS
) -> list[Trained] | None:
    """Train in every way that this machine has for a device, and translate.

    Args:
        parts: a file with functions to train with. None: nothing is trained.
        device: where to train.
        settings: of all trainings.

    Returns:
        A training for each way; None if there is nothing to train, or while grading.
    """
    if parts is None or os.environ.get(GRADING_VARIABLE) == "1":
        return None
    if device.type != "cpu" and not torch.cuda.is_available():
        print(
            "torch can use no NVIDIA GPU on this machine. On one, this cell trains in fp32, bf16,\n"
            "fp16 and compiled, and the next one draws the same bars for it. Then compare: do the\n"
            "losses agree with those of the CPU, and which precision has most tokens per second?"
        )
        return None
    if missing_compiler(device) is not None:
        print(f"{missing_compiler(device)} is not on this machine: nothing is compiled.")
    found = []
    with TemporaryDirectory() as folder:
        try:
            own = (*settings, f"device={device.type}")
            for run in train_each("numbers", ways(device), Path(folder), own, parts):
                print(f"{run.name}: {run.cpu_seconds:.0f} seconds of processor time")
                found.append(Trained(run, *_translations(run, parts)))
        except TrainingError as error:
            print(error)
            return None
    return found


def _translations(run: Run, parts: Path) -> tuple[list[list[str]], list[list[list[str]]]]:
    task = numbers_task(TranslatorConfig(), TrainerConfig(), parts_of(parts).bucket)
    checkpoints.load_weights(task.model, checkpoints.read_weights(run.weights.parent), run.weights)
    rows = written(task.model.eval(), task.pairs, CPU)
    references = [[_words(target)] for _, target in task.pairs]
    return [_words(row) for row in rows], references


def _words(symbols: Sequence[int]) -> list[str]:
    return split_words(numbers.TARGET.decode(symbols))
