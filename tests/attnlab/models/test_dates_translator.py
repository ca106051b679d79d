"""The translator's encoder ignores padding, and its training runs over all dates."""

from __future__ import annotations

import pytest
import torch
from safetensors.torch import load_file

from attnlab.data import dates
from attnlab.data.dates import BOS, EOS, PAD, Batch
from attnlab.models.dates_translator import Encoder, dates_translator, train_on_dates
from attnlab.seq2seq import AttentionDecoderCell, pad_batch, teacher_forced_loss
from demo.course_folder import REPOSITORY

TRAINED = REPOSITORY / "autograder" / "exercises" / "lab02" / "train_translator"


def test_equal_seeds_give_equal_weights() -> None:
    def first_weights(seed: int) -> torch.Tensor:
        return dates_translator(AttentionDecoderCell, seed).encoder.embedding.weight

    before = torch.get_rng_state()
    assert torch.equal(first_weights(3), first_weights(3))
    assert torch.equal(torch.get_rng_state(), before)
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


def small_batch() -> Batch:
    source, _, source_mask = pad_batch([[3, 4, 5, 6], [7, 8], [9, 10, 3]], PAD)
    target, _, target_mask = pad_batch([[BOS, 3, EOS], [BOS, 4, 5, 6, 7, EOS], [BOS, EOS]], PAD)
    return Batch(source, source_mask, target, target_mask)


def test_the_encoder_does_not_read_padding() -> None:
    encoder, batch = Encoder(11, 3, 6).double(), small_batch()
    hidden, last = encoder(batch.source, batch.source_mask)
    alone, last_alone = encoder(batch.source[1:2, :2], batch.source_mask[1:2, :2])
    assert hidden.shape == (3, 4, 6)
    assert torch.allclose(hidden[1, :2], alone[0])
    assert not hidden[1, 2:].any()
    assert torch.allclose(last[1], last_alone[0])
    gru = encoder.gru
    out, ends = gru(encoder.embedding(batch.source[:1]))
    assert torch.allclose(hidden[:1], out)
    assert torch.allclose(last[:1], torch.cat([ends[0], ends[1]], -1))


def test_the_reference_weights_translate_dates() -> None:
    model = dates_translator(AttentionDecoderCell)
    model.load_state_dict(load_file(TRAINED / "dates.safetensors"))
    some = dates.validation()[:100]
    batch = dates.batch_of(some, pad_batch)
    with torch.no_grad():
        loss = teacher_forced_loss(model.eval(), batch)
    assert loss < 0.05
