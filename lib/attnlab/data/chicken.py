"""Lecture W's four sentences: the same five words in four orders, and four meanings.

Tested in tests/attnlab/test_positions.py.
"""

from __future__ import annotations

import torch
from torch import Tensor

SENTENCES = (
    "the chicken crossed the road",
    "the road the chicken crossed",
    "the chicken the road crossed",
    "crossed the road the chicken",
)
WORDS = ("the", "chicken", "crossed", "road")  # word i has the id i


def token_ids() -> Tensor:
    """(4, 5), int64: the ids of the four sentences' words, in lower case as on the slide."""
    return torch.tensor([[WORDS.index(word) for word in s.split()] for s in SENTENCES])


def place_of(word: str) -> Tensor:
    """(4,), int64: where `word` comes first in each of the four sentences.

    Raises:
        ValueError: the sentences do not contain it.
    """
    return torch.tensor([sentence.split().index(word) for sentence in SENTENCES])
