"""What a :class:`attnlab.training.Trainer` is told, and how far it has come.

Tested in ``tests/attnlab/test_training.py``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from attnlab.checking.errors import LabError
from attnlab.optimizers import SCHEDULES
from attnlab.train_step import DTYPES, Precision

# Settings that may change when training goes on: they do not change which weights come out, or they
# say how long to train.
MAY_CHANGE = ("steps", "device", "compile", "log_every", "save_every", "keep", "patience")


class TrainingError(LabError):
    """Training cannot go on."""


@dataclass(frozen=True)
class TrainerConfig:
    """How to train.

    Attributes:
        steps: the number of updates.
        lr: the highest learning rate.
        batch_tokens: the most tokens of a batch, padding included, of all processes together.
        accumulate: into how many micro-batches a process cuts its share of a batch.
        warmup: over how many updates the learning rate rises.
        schedule: how it goes on; see `optimizers.rate_factor`.
        weight_decay: of matrices.
        max_norm: the limit of the gradients' length; None: there is no limit.
        dtype: the precision of the forward and backward pass; the weights are always float32.
        compile: whether to compile the model.
        seed: of weights, order and dropout.
        device: "auto" or a device; see `devices.pick_device`.
        log_every: updates from one line of the log to the next.
        save_every: updates from one checkpoint to the next; each is preceded by a validation.
        keep: how many checkpoints stay, beside the weights with the lowest validation loss.
        patience: early stopping: training ends when the validation loss was not lower than its
            lowest at so many checkpoints in a row. None: it does not end early.

    Raises:
        TrainingError: a number is out of its range, or a word is not one of those listed.
    """

    steps: int = 1000
    lr: float = 6e-3
    batch_tokens: int = 2048
    accumulate: int = 1
    warmup: int = 0
    schedule: Literal["noam", "cosine", "one-cycle", "constant"] = "one-cycle"
    weight_decay: float = 0.0
    max_norm: float | None = 1.0
    dtype: Precision = "fp32"
    compile: bool = False
    seed: int = 0
    device: str = "auto"
    log_every: int = 50
    save_every: int = 500
    keep: int = 1
    patience: int | None = None

    def __post_init__(self) -> None:
        at_least_1 = (
            "steps", "batch_tokens", "accumulate", "log_every", "save_every", "keep", "patience",
        )  # fmt: skip
        for name, least in {**dict.fromkeys(at_least_1, 1), "warmup": 0, "weight_decay": 0}.items():
            value = getattr(self, name)
            if value is not None and not value >= least:
                raise TrainingError(f"{name} must be {least} or more, not {value}")
        for name in ("lr", "max_norm"):
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise TrainingError(f"{name} must be above 0 and finite, not {value}")
        for name, words in (("schedule", SCHEDULES), ("dtype", tuple(DTYPES))):
            if getattr(self, name) not in words:
                known = ", ".join(words)
                raise TrainingError(f"{name} must be one of {known}, not {getattr(self, name)!r}")

    def saves_after(self, step: int) -> bool:
        """Whether a checkpoint is written after an update; after the last one always."""
        return step % self.save_every == 0 or step == self.steps


@dataclass(frozen=True)
class Progress:
    """How far training has come.

    Attributes:
        step: updates so far, skipped ones included.
        skipped: updates that were skipped because a gradient was not finite.
        epoch: the number of the epoch, from 0.
        batch: how many of its batches are used.
        best: the lowest validation loss so far; None if there was none.
        worse: validations since then.
    """

    step: int = 0
    skipped: int = 0
    epoch: int = 0
    batch: int = 0
    best: float | None = None
    worse: int = 0

    def validated(self, loss: float | None) -> Progress:
        """The progress after a validation; `loss` is None if there was nothing to measure."""
        if loss is None:
            return self
        if loss < (math.inf if self.best is None else self.best):
            return replace(self, best=loss, worse=0)
        return replace(self, worse=self.worse + 1)

    def ends(self, cfg: TrainerConfig) -> bool:
        """Whether training is over: all updates are done, or `cfg.patience` is."""
        impatient = cfg.patience is not None and self.worse >= cfg.patience
        return impatient or self.step >= cfg.steps

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Progress:
        """The progress in a checkpoint's state.

        Raises:
            KeyError, TypeError, ValueError: it is not in it.
        """
        numbers = {key: int(state[key]) for key in ("step", "skipped", "epoch", "batch", "worse")}
        return cls(**numbers, best=None if state["best"] is None else float(state["best"]))


class Epochs(Protocol):
    """Batches in an order that the number of the epoch decides, such as `buckets.Bucketed`."""

    def epoch(self, number: int, start: int = 0) -> Iterator[Any]:
        """The batches of epoch `number` (from 0), without the first `start`."""
        ...
