"""What the shipped GPT of the manuals writes with several settings, by the student's `generate`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from attnlab.models.small_gpts import merges, pretrained
from attnlab.notebook.unwritten import why_not
from attnlab.tokenizer import as_tiktoken

SETTINGS: dict[str, dict[str, Any]] = {
    "temperature 0": {"temperature": 0},
    "temperature 0.5": {"temperature": 0.5},
    "temperature 1": {},
    "temperature 1, top_p 0.9": {"top_p": 0.9},
    "temperature 1, top_k 10": {"top_k": 10},
    "temperature 1.5": {"temperature": 1.5},
}


def by_temperature(
    generate: Callable[..., Tensor], prompt: str = "Return the", new: int = 60
) -> dict[str, str]:
    """Print the same prompt's continuation for several settings, and return them by name.

    Args:
        generate: called as ``generate(model, prompt, new, **how_to_sample)``.
        prompt: the beginning.
        new: the number of new tokens.
    """
    encoding, model = as_tiktoken(merges()), pretrained()
    ids = torch.tensor([encoding.encode(prompt)])  # (1, T)
    found = {}
    for name, how in SETTINGS.items():
        generator = torch.Generator().manual_seed(0)
        try:
            tokens = generate(model, ids, new, generator=generator, **how)
        except Exception as error:
            print(f"No texts yet: {why_not(error, generate)}")
            return {}
        found[name] = prompt + encoding.decode(tokens[0].tolist())
        one_line = " ".join(found[name].split())
        print(f"{name}\n    {one_line}\n")
    return found
