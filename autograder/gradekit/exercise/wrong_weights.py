"""The weights that a wrong training leaves, by name: the mistakes that graded trainings share.

Tested in tests/gradekit/exercise/test_wrong_weights.py.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gradekit.exercise.trained import Weights

NOT_TRAINED = (
    "The saved model has learned nothing: its weights are still the initial ones. Was the file "
    "saved before the training, or did the training change no weight?"
)
NAN = (
    "A weight in the file is NaN. Once a loss is NaN, all later losses are NaN: at which step of "
    "your curve does that begin?"
)


def with_noise(weights: Weights, amount: float) -> dict[str, Tensor]:
    """Right weights with noise of this standard deviation: a model that was trained less."""
    generator = torch.Generator().manual_seed(0)
    return {
        name: tensor + amount * torch.randn(tensor.shape, generator=generator)
        for name, tensor in weights.items()
    }


def all_nan(weights: Weights) -> dict[str, Tensor]:
    """The same names and shapes, and nothing but NaN."""
    return {name: tensor * float("nan") for name, tensor in weights.items()}


def of_another_model() -> dict[str, Tensor]:
    """Weights whose names and shapes are those of no model of the labs."""
    return {name: torch.zeros_like(tensor) for name, tensor in nn.GRU(7, 5).state_dict().items()}
