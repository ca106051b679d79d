"""A tiny language model around any causal attention, for looking at what its attention does.

It is trained on the course's Markov source, whose entropy is known, in about two seconds.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from attnlab.data.markov import NUM_SYMBOLS, MarkovSource

WIDTH, HEADS, LENGTH = 32, 2, 32
STEPS, BATCH, LEARNING_RATE = 250, 32, 1e-2


class TinyLM(nn.Module):
    """Scores for the next symbol of the Markov source: one pre-norm block around an attention.

    Args:
        attention: maps (B, T, 32) to (B, T, 32).
    """

    def __init__(self, attention: nn.Module) -> None:
        super().__init__()
        self.symbols = nn.Embedding(NUM_SYMBOLS, WIDTH)
        self.places = nn.Embedding(LENGTH, WIDTH)
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(3))
        self.attention = attention
        self.network = nn.Sequential(nn.Linear(WIDTH, 128), nn.GELU(), nn.Linear(128, WIDTH))
        self.head = nn.Linear(WIDTH, NUM_SYMBOLS)

    def forward(self, ids: Tensor, start: int = 0) -> Tensor:
        """Logits (B, T, 8) for the symbols after those in `ids` (B, T).

        The first of them is at position `start`; there are 32 positions.
        """
        x = self.symbols(ids) + self.places.weight[start : start + ids.shape[1]]  # (B, T, 32)
        x = x + self.attention(self.norms[0](x))
        x = x + self.network(self.norms[1](x))
        logits: Tensor = self.head(self.norms[2](x))
        return logits


def next_symbol_loss(model: nn.Module, ids: Tensor) -> Tensor:
    """The mean cross-entropy, in nats, of each symbol of `ids` (B, T) after the first."""
    logits = model(ids[:, :-1])
    return nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())


def train_lm(model: nn.Module, source: MarkovSource, steps: int = STEPS) -> list[float]:
    """Train `model` in place on sequences of `source`; returns the loss of each step."""
    ids = source.sequences("train", 2048, LENGTH)
    optimizer = torch.optim.Adam(model.parameters(), LEARNING_RATE)
    rates = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, total_steps=steps)
    order, losses = torch.Generator().manual_seed(0), []
    for _ in range(steps):
        batch = ids[torch.randint(0, len(ids), (BATCH,), generator=order)]  # (B, T)
        loss = next_symbol_loss(model, batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        rates.step()
        losses.append(loss.detach())
    return [float(loss) for loss in losses]


@torch.no_grad()
def continued(model: nn.Module, ids: Tensor, count: int) -> Tensor:
    """`ids` (B, T) with `count` more symbols, each drawn from what `model` says of the next."""
    chance = torch.Generator().manual_seed(0)
    for _ in range(count):
        last = model(ids)[:, -1].softmax(-1)  # (B, 8)
        ids = torch.cat([ids, torch.multinomial(last, 1, generator=chance)], dim=1)
    return ids


class WithCache(nn.Module):
    """An attention that also takes and returns a cache, for a :class:`TinyLM`.

    Args:
        attention: called with x (B, T, 32) and a cache, None at the start; returns the output and
            the new cache.
    """

    def __init__(self, attention: nn.Module) -> None:
        super().__init__()
        self.attention = attention

    def forward(self, x: Tensor) -> Tensor:
        """The output for a whole sequence."""
        out: Tensor = self.attention(x)[0]
        return out


@torch.no_grad()
def continued_with_cache(model: TinyLM, ids: Tensor, count: int) -> Tensor:
    """As :func:`continued`, but only the newest symbol goes through the model; needs WithCache."""
    chance = torch.Generator().manual_seed(0)
    whole = model.attention
    assert isinstance(whole, WithCache)
    cached = _Cached(whole.attention)
    model.attention, new = cached, ids
    try:
        for _ in range(count):
            start = ids.shape[1] - new.shape[1]
            last = model(new, start)[:, -1].softmax(-1)  # (B, 8)
            new = torch.multinomial(last, 1, generator=chance)
            ids = torch.cat([ids, new], dim=1)
    finally:
        model.attention = whole
    return ids


class _Cached(nn.Module):
    """An attention that keeps its cache from call to call."""

    def __init__(self, attention: nn.Module) -> None:
        super().__init__()
        self.attention = attention
        self.cache: object = None

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor
        out, self.cache = self.attention(x, self.cache)
        return out


def surprise(source: MarkovSource, ids: Tensor, start: int) -> float:
    """How much `source` is surprised by the symbols of `ids` from `start` on: nats per symbol."""
    a, b, c = ids[:, start - 2 : -2], ids[:, start - 1 : -1], ids[:, start:]
    return float(-source.transitions[a, b, c].log().mean())


@torch.no_grad()
def evaluate(model: nn.Module, ids: Tensor) -> float:
    """The loss of `model` on `ids` (B, T), in nats per symbol."""
    return float(next_symbol_loss(model, ids))


def surprise_at_dice(source: MarkovSource) -> float:
    """How much symbols that are drawn with equal chances surprise `source`: nats per symbol."""
    return float(-source.transitions.log().mean())
