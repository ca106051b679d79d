"""A GPT filled with one number."""

from __future__ import annotations

from attnlab.gpt import GPTConfig
from attnlab.models.fresh_gpt import filled_gpt


def test_every_parameter_is_the_number():
    model = filled_gpt(GPTConfig(5, context=4, d_model=6, num_heads=2, num_layers=1), 2.0)
    assert all(bool((parameter == 2).all()) for parameter in model.parameters())
    assert model.head.weight is model.tokens.weight
