"""What a Trainer gets for a task, and how good the model is at the end.

Tested in ``tests/attnlab/test_translation.py`` and ``tests/attnlab/test_gpt_training.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from attnlab.train_step import Loss
from attnlab.training_config import Epochs


@dataclass(frozen=True)
class Measured:
    """How good a model is.

    Attributes:
        text: for people.
        values: for programs; names and numbers.
    """

    text: str
    values: Mapping[str, float]


@dataclass(frozen=True)
class Task:
    """Everything that a Trainer needs, and a measure of success.

    Attributes:
        model: with fresh weights.
        loss: for the Trainer.
        data: to train on.
        validation: batches of other data.
        params_per_token: the parameters that a token of the loss passes, for the MFU.
        measure: measures a model on the validation data. Its mode may change.
    """

    model: nn.Module
    loss: Loss
    data: Epochs
    validation: Sequence[Any]
    params_per_token: float
    measure: Callable[[nn.Module, torch.device], Measured]
