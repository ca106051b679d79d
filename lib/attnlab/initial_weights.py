"""Initial weights that GPT-2 and BERT draw from the same normal distribution."""

from __future__ import annotations

import torch
from torch import nn


def init_normal(
    model: nn.Module, std: float = 0.02, *, generator: torch.Generator | None = None
) -> None:
    """Draw all weights again, as GPT-2 and BERT do.

    Weights of linear layers and tables come from N(0, std²), biases are 0, and normalisations start
    as they do in torch.

    Args:
        model: its parameters are changed.
        std: the standard deviation.
        generator: the only source of randomness if it is given.
    """
    for part in model.modules():
        if isinstance(part, nn.Linear | nn.Embedding):
            nn.init.normal_(part.weight, 0.0, std, generator=generator)
        if isinstance(part, nn.Linear) and part.bias is not None:
            nn.init.zeros_(part.bias)
        if isinstance(part, nn.LayerNorm):
            part.reset_parameters()
