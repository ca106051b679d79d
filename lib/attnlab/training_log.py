"""The log of a training: a CSV file always, and TensorBoard's files if it is installed.

Tested in ``tests/attnlab/test_training.py``.
"""

from __future__ import annotations

import csv
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from attnlab.checkpoints import CheckpointError

CSV = "log.csv"


@dataclass(frozen=True)
class Record:
    """One line: the updates since the line before.

    Attributes:
        step: the number of the last update.
        epoch: the number of the epoch, from 0.
        loss: the mean over all tokens since the line before, in nats.
        validation_loss: None if it was not measured at this step.
        lr: the learning rate of the last update.
        grad_norm: the length of its gradients, before the limit.
        skipped: updates so far that were skipped because a gradient was not finite.
        tokens_per_second: tokens of the loss, of all processes; padding is not counted.
        mfu: the share of the device's peak speed; None if that is not known.
        memory: the most bytes used so far on this process's device.
        seconds_left: at the present speed.
    """

    step: int
    epoch: int
    loss: float
    validation_loss: float | None
    lr: float
    grad_norm: float
    skipped: int
    tokens_per_second: float
    mfu: float | None
    memory: int
    seconds_left: float


class TrainingLog:
    """Writes records to files.

    Args:
        folder: where the files are; None: nothing is written.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._rows: list[list[str]] = []
        self._begun = False
        self._tensorboard: Any = None

    def keep_until(self, step: int) -> None:
        """Keep the lines up to a step; later ones were written after the checkpoint."""
        if self._folder is None or not (self._folder / CSV).is_file():
            return
        with (self._folder / CSV).open(newline="", encoding="utf-8") as file:
            rows = [row for row in csv.reader(file) if len(row) == len(fields(Record))]
        self._rows = [row for row in rows if row[0].isdecimal() and int(row[0]) <= step]

    def write(self, record: Record) -> None:
        """Add a line.

        Raises:
            CheckpointError: it could not be written.
        """
        if self._folder is None:
            return
        try:
            if not self._begun:
                self._begin(self._folder, record.step)
            values = asdict(record)
            with (self._folder / CSV).open("a", newline="", encoding="utf-8") as file:
                csv.writer(file).writerow("" if v is None else v for v in values.values())
        except OSError as error:
            raise CheckpointError(
                f"the log {self._folder / CSV} could not be written ({error.strerror or error}); "
                "checkpoints are intact, so correct that and run the command again"
            ) from error
        if self._tensorboard is not None:
            for name, value in values.items():
                if value is not None:
                    self._tensorboard.add_scalar(name, value, record.step)
            self._tensorboard.flush()

    def _begin(self, folder: Path, step: int) -> None:
        """Write the file again with the lines that are kept, the first time in this process."""
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / CSV).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(field.name for field in fields(Record))
            writer.writerows(self._rows)
        self._begun = True
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            return
        self._tensorboard = SummaryWriter(str(folder / "tensorboard"), purge_step=step)
