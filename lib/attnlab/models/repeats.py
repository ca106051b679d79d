"""A GPT of two layers that was trained on rows which repeat themselves.

What stands in a row is random, so the weights cannot know it. From the second time on it can be
copied, and for that the model has grown an induction head. Its weights come with the library; they
were trained by ``autograder/exercises/lab10/induction_scores/measure.py``. Tested in
tests/attnlab/test_induction.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor

from attnlab.gpt import GPT, GPTConfig
from attnlab.models.shipped_gpts import load_gpt

SYMBOLS, PERIOD = 24, 12
CONFIG = GPTConfig(SYMBOLS, 2 * PERIOD, d_model=48, num_heads=2, num_layers=2)
FILE = Path(__file__).with_name("repeats.safetensors")


def repeated_rows(count: int, generator: torch.Generator) -> Tensor:
    """(count, 24): twelve random symbols, twice."""
    return torch.randint(SYMBOLS, (count, PERIOD), generator=generator).repeat(1, 2)


def copies_repeats() -> GPT:
    """The trained model, in evaluation mode."""
    return load_gpt(CONFIG, FILE)


@torch.no_grad()
def attention_weights(model: GPT, ids: Tensor) -> list[Tensor]:
    """The attention weights of each layer, (B, h, T, T)."""
    x = model.tokens(ids) + model.positions(torch.arange(ids.shape[1]))  # (B, T, d_model)
    found = []
    for block in cast("Iterable[Any]", model.blocks):
        read = block.norm1(x)
        kv = block.attention.keys_values(read)
        found.append(block.attention(read, kv, is_causal=True, need_weights=True).weights)
        x, _ = block(x)
    return found
