"""A GPT whose numbers are all the same, to see which of them `init_gpt` draws."""

from __future__ import annotations

import torch

from attnlab.gpt import GPT, GPTConfig


def filled_gpt(cfg: GPTConfig, value: float = 3.0) -> GPT:
    """A model all of whose parameters are `value`; its parts have the names of lab 9's task."""
    model = GPT(cfg)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(value)
    return model
