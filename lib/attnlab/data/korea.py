"""Lecture S's sentence about Korea in two word orders, as hand-made vectors.

"Korea" is very relevant to "Korean", but "Korean" is hardly relevant to "Korea", whatever their
positions in the sentence. A word's vector says what kind of word it is. One matrix says what each
kind asks for, another what it offers, and a third what it contributes.
"""

from __future__ import annotations

import torch
from torch import Tensor

ONE_ORDER = "in Korea most people speak Korean"
OTHER_ORDER = "most people in Korea speak Korean"

FEATURES = ("place", "language", "people", "action", "little word")
ASKS = ("where?", "who?", "which language?")

_VECTORS = {
    "in": (0.0, 0.0, 0.0, 0.0, 1.0),
    "Korea": (1.0, 0.0, 0.0, 0.0, 0.0),
    "most": (0.0, 0.0, 0.4, 0.0, 0.8),
    "people": (0.0, 0.0, 1.0, 0.0, 0.0),
    "speak": (0.0, 0.0, 0.0, 1.0, 0.0),
    "Korean": (0.1, 1.0, 0.0, 0.0, 0.0),
}


def embed(text: str) -> Tensor:
    """The words of `text` as vectors, (T, 5), float64, one of FEATURES in each column.

    Raises:
        KeyError: a word is not in the two sentences.
    """
    return torch.tensor([_VECTORS[word] for word in text.split()], dtype=torch.float64)


def projections() -> tuple[Tensor, Tensor, Tensor]:
    """The matrices W_q (5, 3), W_k (5, 3) and W_v (5, 2), float64; their rows are FEATURES."""
    asks = [[0, 1.0, 0.5], [2.6, 0.6, 0], [1.0, 0, 1.2], [0, 2.2, 2.0], [1.2, 0.6, 0]]
    offers = [[2.0, 0, 0], [0, 0, 2.0], [0, 2.0, 0], [0, 0.4, 0.4], [-0.6, -0.6, -0.6]]
    tells = [[5.0, 0], [4.0, 4.5], [-0.5, 5.0], [-4.0, 2.0], [-1.0, -2.0]]
    w_q, w_k, w_v = (torch.tensor(rows, dtype=torch.float64) for rows in (asks, offers, tells))
    return w_q, w_k, w_v
