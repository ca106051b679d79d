"""A small encoder or decoder that may lack positions, to see what it makes of word order.

It has random weights: whether a model can tell two orders apart does not depend on training.
Tested in tests/attnlab/test_positions.py.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from attnlab.data.chicken import WORDS, token_ids
from attnlab.multihead import MultiHeadAttention

D_MODEL = 16


class WordOrder(nn.Module):
    """Embeds words, adds their positions if it has a layer for them, and lets them attend.

    Args:
        positions: a layer from (B, T, D_MODEL) to (B, T, D_MODEL); None: no positions.
        layers: the number of attentions, each of which adds its output to its input.
        causal: whether a word sees only itself and earlier words.
        seed: of the embeddings' and attentions' weights.
    """

    def __init__(
        self, positions: nn.Module | None, layers: int = 1, causal: bool = False, seed: int = 0
    ) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=()):
            torch.manual_seed(seed)
            self.words = nn.Embedding(len(WORDS), D_MODEL)
            self.attention = nn.ModuleList(MultiHeadAttention(D_MODEL, 4) for _ in range(layers))
        self.positions, self.causal = positions, causal

    def forward(self, ids: Tensor) -> Tensor:
        """(B, T) ids of words to (B, T, D_MODEL) vectors in their context."""
        x = self.words(ids)  # (B, T, D_MODEL)
        if self.positions is not None:
            x = self.positions(x)
        mask = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool)
        mask = mask.tril() if self.causal else mask
        for attention in self.attention:
            x = x + attention(x, x, x, mask)
        return x


def vectors_of(model: WordOrder, places: Tensor) -> Tensor:
    """(4, D_MODEL): the vector of the word at `places`, (4,), in each of lecture W's sentences."""
    with torch.no_grad():
        out = model(token_ids())  # (4, 5, D_MODEL)
    return out[torch.arange(len(places)), places]


def blind_to_order(layers: int) -> float:
    """How far the last word's vector moves if two earlier words change places, without positions.

    Args:
        layers: of a causal model, in which a word sees only itself and earlier words.
    """
    model = WordOrder(None, layers, causal=True)
    one, other = torch.tensor([[0, 2, 3, 1]]), torch.tensor([[2, 0, 3, 1]])
    with torch.no_grad():
        return float((model(one) - model(other))[0, -1].abs().max())
