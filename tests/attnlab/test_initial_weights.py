"""Initial weights: their distribution, and that only the generator decides."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from attnlab.initial_weights import init_normal


def test_weights_are_normal_biases_zero_and_normalisations_fresh():
    model = nn.Sequential(nn.Embedding(100, 50), nn.Linear(50, 80), nn.LayerNorm(80))
    nn.init.ones_(model[1].bias)
    nn.init.zeros_(model[2].weight)
    state = torch.get_rng_state()
    init_normal(model, 0.5, generator=torch.Generator().manual_seed(0))
    assert torch.get_rng_state().equal(state)
    for weight in (model[0].weight, model[1].weight):
        assert weight.std().item() == pytest.approx(0.5, rel=0.1)
        assert weight.mean().abs().item() < 0.05
    assert not model[1].bias.any()
    assert (model[2].weight == 1).all()
