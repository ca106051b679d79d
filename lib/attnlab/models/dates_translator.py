"""The given parts of lab 2's translator: the encoder, and the model that joins it to the decoder.

The decoder cell and the training step are arguments, so a notebook's translator runs the student's
own steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from attnlab.data import dates

# Large enough for the dates, and fast on one core.
D_EMBED = 32
D_STATE = 64
D_HIDDEN = 64
D_SCORE = 32
EPOCHS = 4
BATCH_SIZE = 32
LEARNING_RATE = 6e-3
MAX_NORM = 1.0


class Encoder(nn.Module):
    """Reads the source in both directions: one vector for each position.

    Args:
        vocab: number of the source's symbols.
        d_embed: width of a symbol's embedding.
        d_hidden: width of a vector; even, because each direction has half of it.
    """

    def __init__(self, vocab: int, d_embed: int, d_hidden: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_embed)
        self.gru = nn.GRU(d_embed, d_hidden // 2, batch_first=True, bidirectional=True)

    def forward(self, source: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Vectors for all positions, and the last state of each direction.

        Args:
            source: (B, T), int64, padded on the right.
            mask: (B, T), boolean, True where there is a symbol; at least one in each row.

        Returns:
            (B, T, d_hidden), 0 at padding, and (B, d_hidden), the last states of both directions.
        """
        # Packed rows end where their symbols do, so the backward direction never reads padding.
        packed = pack_padded_sequence(
            self.embedding(source), mask.sum(1).cpu(), batch_first=True, enforce_sorted=False
        )
        out, ends = self.gru(packed)  # ends: (2, B, d_hidden / 2)
        hidden, _ = pad_packed_sequence(out, batch_first=True, total_length=source.shape[1])
        return hidden, ends.transpose(0, 1).flatten(1)  # (B, T, d_hidden), (B, d_hidden)


class Translator(nn.Module):
    """An encoder, a decoder cell, and a bridge: the encoder's last state to the decoder's first.

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
        """Read the source.

        Args:
            source: (B, T), int64, padded on the right.
            mask: (B, T), boolean, True where there is a symbol.

        Returns:
            hidden (B, T, d_hidden), and the decoder's first state (B, d_state).
        """
        hidden, last = self.encoder(source, mask)
        return hidden, self.bridge(last).tanh()


def dates_translator(cell: Callable[..., nn.Module], seed: int = 0) -> Translator:
    """A translator for dates, not yet trained.

    Args:
        cell: the class of its decoder cell: `AttentionDecoderCell`.
        seed: of its initial weights. The global random state does not change.
    """
    with torch.random.fork_rng(devices=[]):
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
    """Train a translator on the lab's dates, in place. The learning rate rises, then falls.

    Args:
        model: a model from `dates_translator`.
        train: one pass over batches: `train_translator`.
        pad_batch: pads the batches.
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
