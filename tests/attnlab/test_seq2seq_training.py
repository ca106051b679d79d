"""The loss of an encoder–decoder and its training loop; the exercises have the known mistakes."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
from torch import nn

from attnlab.batching import Batch, make_batch
from attnlab.encoder_decoder import Transformer, init_weights
from attnlab.seq2seq_training import sequence_loss, train_transformer
from attnlab.transformer_config import TransformerConfig

CFG = TransformerConfig(9, 8, 8, 2, 16, 1, 1, dropout=0.1, max_len=20)


@pytest.fixture
def model() -> Transformer:
    torch.manual_seed(0)
    made = Transformer(CFG)
    init_weights(made)
    return made


def a_batch() -> Batch:
    return make_batch([([3, 4, 5], [3, 4]), ([6], [7, 3, 5, 6]), ([8, 3], [4])])


def test_the_loss_is_the_mean_over_real_labels_whatever_their_rows(model: Transformer) -> None:
    model.eval()
    batch = a_batch()
    one_by_one = [
        sequence_loss(model, make_batch([pair])).item()
        for pair in [([3, 4, 5], [3, 4]), ([6], [7, 3, 5, 6]), ([8, 3], [4])]
    ]
    expected = sum(n * loss for n, loss in zip((3, 5, 2), one_by_one, strict=True)) / 10
    assert sequence_loss(model, batch).item() == pytest.approx(expected, abs=1e-6)


def test_another_symbol_may_be_the_padding(model: Transformer) -> None:
    model.eval()
    batch = a_batch()
    other = batch._replace(labels=batch.labels.masked_fill(batch.labels == 4, 0))
    same = batch._replace(labels=other.labels.masked_fill(other.labels == 0, 4))
    assert torch.equal(sequence_loss(model, same, pad=4), sequence_loss(model, other))


def test_training_lowers_the_loss_and_follows_the_schedule(model: Transformer) -> None:
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    seen: list[float] = []

    def rate(done: int) -> float:
        seen.append(min(1.0, (done + 1) / 5))
        return seen[-1]

    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    losses = train_transformer(model, (a_batch() for _ in range(40)), optimizer, scheduler)
    assert len(losses) == 40
    assert losses[-1] < losses[0] / 2
    assert len(seen) == 41
    assert all(now >= before for before, now in pairwise(seen))
    assert not model.training


def test_gradients_are_clipped_together(model: Transformer) -> None:
    optimizer = torch.optim.SGD(model.parameters(), 0.0)
    scheduler = torch.optim.lr_scheduler.ConstantLR(optimizer)
    train_transformer(model, [a_batch()], optimizer, scheduler, max_norm=0.01)
    grads = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
    assert nn.utils.get_total_norm(grads).item() == pytest.approx(0.01, rel=1e-4)
