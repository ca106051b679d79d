"""The translator's encoder ignores padding, and its training runs over all dates."""

from __future__ import annotations

import pytest
import torch

from attnlab.data import dates
from attnlab.models.dates_translator import D_HIDDEN, D_STATE, dates_translator, train_on_dates
from attnlab.seq2seq import AttentionDecoderCell, pad_batch


def test_padding_changes_nothing_and_gets_zeros() -> None:
    model = dates_translator(AttentionDecoderCell)
    short, long = dates.SOURCE.encode("may 1998"), dates.SOURCE.encode("5 march 1998")
    alone, _, alone_mask = pad_batch([short], dates.PAD)
    both, _, mask = pad_batch([short, long], dates.PAD)
    hidden, state = model.encode(alone, alone_mask)
    hidden_of_both, state_of_both = model.encode(both, mask)
    assert hidden_of_both.shape == (2, len(long), D_HIDDEN)
    assert state_of_both.shape == (2, D_STATE)
    torch.testing.assert_close(hidden_of_both[0, : len(short)], hidden[0])
    torch.testing.assert_close(state_of_both[0], state[0])
    assert not hidden_of_both[0, len(short) :].any()


def test_equal_seeds_give_equal_weights() -> None:
    def first_weights(seed: int) -> torch.Tensor:
        return dates_translator(AttentionDecoderCell, seed).encoder.embedding.weight

    assert torch.equal(first_weights(3), first_weights(3))
    assert not torch.equal(first_weights(3), first_weights(4))


def test_training_sees_every_pair_once_per_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dates, "train", lambda: dates.pairs(70, 1))
    model, sizes = dates_translator(AttentionDecoderCell), []

    def train(model, batches, optimizer, max_norm, scheduler):  # type: ignore[no-untyped-def]
        losses = []
        for batch in batches:
            sizes.append(len(batch.source))
            optimizer.step()
            scheduler.step()
            losses.append(0.5)
        return losses

    losses = train_on_dates(model, train, pad_batch, epochs=2)
    assert sizes == [32, 32, 6] * 2
    assert losses == [0.5] * 6
