"""The parts of the translator that lab 2 gives: the encoder, and what holds it and the decoder.

The decoder cell is passed in, and so is the training step: a notebook's translator runs its
author's own steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from attnlab.data import dates

# Enough for the dates, and quick on one core.
D_EMBED = 32
D_STATE = 64
D_HIDDEN = 64
D_SCORE = 32
EPOCHS = 4
BATCH_SIZE = 32
LEARNING_RATE = 6e-3
MAX_NORM = 1.0


class Encoder(nn.Module):
    """Reads the source in both directions: one vector for each of its places.

    Args:
        vocab: number of the source's symbols.
        d_embed: width of a symbol's embedding.
        d_hidden: width of a vector; even, half of it for each direction.
    """

    def __init__(self, vocab: int, d_embed: int, d_hidden: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_embed)
        self.gru = nn.GRU(d_embed, d_hidden // 2, batch_first=True, bidirectional=True)

    def forward(self, source: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Vectors for all places, and where each direction ended.

        Args:
            source: (B, T), int64, filled up on the right.
            mask: (B, T), boolean, True where a symbol stands; at least one in each row.

        Returns:
            (B, T, d_hidden), 0 at padding, and (B, d_hidden), the last state of either direction.
        """
        # Packed rows end where their symbols do, so the backward direction never reads padding.
        packed = pack_padded_sequence(
            self.embedding(source), mask.sum(1).cpu(), batch_first=True, enforce_sorted=False
        )
        out, ends = self.gru(packed)  # ends: (2, B, d_hidden / 2)
        hidden, _ = pad_packed_sequence(out, batch_first=True, total_length=source.shape[1])
        return hidden, ends.transpose(0, 1).flatten(1)  # (B, T, d_hidden), (B, d_hidden)


class Translator(nn.Module):
    """An encoder and a decoder cell, and the bridge from where the one ends to the other's start.

    Args:
        encoder: source, mask → hidden (B, T, d_hidden), last (B, d_hidden).
        cell: y_prev, state, hidden, mask → logits (B, V), new state (B, d_state), weights (B, T).
        d_hidden: width of the encoder's vectors.
        d_state: width of the decoder's state.
    """

    def __init__(self, encoder: nn.Module, cell: nn.Module, d_hidden: int, d_state: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.bridge = nn.Linear(d_hidden, d_state)
        self.cell = cell

    def encode(self, source: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Read the source: (B, T) symbols and their mask → hidden (B, T, d_hidden), the state
        that the decoder starts from (B, d_state).
        """
        hidden, last = self.encoder(source, mask)
        return hidden, self.bridge(last).tanh()


def dates_translator(cell: Callable[..., nn.Module], seed: int = 0) -> Translator:
    """A translator for dates, not yet trained.

    Args:
        cell: the class of its decoder cell: `AttentionDecoderCell`.
        seed: of its first weights.
    """
    torch.manual_seed(seed)
    return Translator(
        Encoder(len(dates.SOURCE), D_EMBED, D_HIDDEN),
        cell(len(dates.TARGET), D_EMBED, D_STATE, D_HIDDEN, D_SCORE),
        D_HIDDEN,
        D_STATE,
    )


def train_on_dates(
    model: nn.Module,
    train: Callable[..., list[float]],
    pad_batch: Callable[..., tuple[Tensor, Tensor, Tensor]],
    seed: int = 0,
    epochs: int = EPOCHS,
) -> list[float]:
    """Train a translator on the lab's dates, in place: a learning rate that rises, then falls.

    Args:
        model: what `dates_translator` made.
        train: one pass over batches: `train_translator`.
        pad_batch: fills up the batches.
        seed: of the order of the pairs.
        epochs: passes over all pairs.

    Returns:
        The loss of every step.
    """
    pairs = dates.train()
    steps = epochs * -(-len(pairs) // BATCH_SIZE)
    optimizer = torch.optim.Adam(model.parameters(), LEARNING_RATE)
    scheduler: Any = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, LEARNING_RATE, total_steps=steps
    )
    losses: list[float] = []
    for epoch in range(epochs):
        batches = dates.batches(pairs, pad_batch, BATCH_SIZE, seed=100 * seed + epoch)
        losses += train(model, batches, optimizer, MAX_NORM, scheduler)
    return losses
