"""Windows, losses and splits of a text, counted by hand and compared with each other."""

from __future__ import annotations

import math
from itertools import islice

import pytest
import torch
from torch import nn

from attnlab.language_modeling import (
    RandomWindows,
    bits_per_byte,
    get_batch,
    lm_loss,
    split_documents,
    text_loss,
)


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


class Table(nn.Module):
    """Logits by the last token alone; drops everything in training."""

    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.randn(7, 7, generator=seeded(), dtype=torch.float64))
        self.dropout = nn.Dropout(1.0)

    def forward(self, x):
        return self.dropout(self.table[x])


def test_each_label_is_the_token_after_its_input():
    x, y = get_batch(torch.arange(20, dtype=torch.int16), 50, 4, seeded())
    assert x.dtype == y.dtype == torch.int64
    assert torch.equal(y, x + 1)
    assert set(x[:, 0].tolist()) == set(range(16))


def test_the_shortest_text_has_one_window():
    x, y = get_batch(torch.arange(5), 3, 4, seeded())
    assert x.tolist() == [[0, 1, 2, 3]] * 3
    assert y.tolist() == [[1, 2, 3, 4]] * 3
    with pytest.raises(ValueError, match="4 tokens have no window of 4"):
        get_batch(torch.arange(4), 3, 4, seeded())


def test_an_epoch_goes_on_where_it_was_left():
    windows = RandomWindows(torch.arange(100), 2, 5, seed=3, batches=6)
    whole = [x.tolist() for x, _ in windows.epoch(1)]
    assert whole[4:] == [x.tolist() for x, _ in windows.epoch(1, 4)]
    assert whole != [x.tolist() for x, _ in windows.epoch(2)]
    assert len({str(batch) for batch in whole}) == 6


def test_the_sum_of_a_batch_is_its_mean_times_its_tokens():
    model = Table().eval()
    x, y = get_batch(torch.arange(30) % 7, 3, 5, seeded())
    found = lm_loss(model, (x, y))
    mean = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
    assert found.count == 15
    assert float(found.loss.detach()) == pytest.approx(15 * float(mean.detach()))


@pytest.mark.parametrize("context", [1, 4, 5, 29, 100])
def test_a_model_without_memory_has_the_same_loss_in_all_windows(context):
    model = Table().train()
    ids = torch.randint(7, (30,), generator=seeded(1))
    log_p = model.table.log_softmax(-1)
    expected = -log_p[ids[:-1], ids[1:]].mean()
    assert text_loss(model, ids, context) == pytest.approx(float(expected.detach()))
    assert model.training


def test_a_long_text_goes_through_the_model_in_parts(monkeypatch):
    monkeypatch.setattr("attnlab.language_modeling.ROWS", 2)
    model = Table()
    ids = torch.randint(7, (100,), generator=seeded(1))
    parts = text_loss(model, ids, 3)
    monkeypatch.undo()
    assert parts == pytest.approx(text_loss(model, ids, 3))


def test_a_text_stays_on_its_side():
    texts = [f"document {n}" for n in range(400)]
    train, validation = split_documents([*texts, *texts], 0.2)
    assert sorted(train + validation) == sorted(texts)
    assert math.isclose(len(validation) / 400, 0.2, abs_tol=0.06)
    _, later = split_documents(["new", *reversed(texts)], 0.2)
    assert [text for text in reversed(later) if text != "new"] == validation


def test_batches_of_an_epoch_are_drawn_one_by_one():
    """Nothing is drawn before it is asked for, so an epoch costs no memory."""
    drawn = []

    def draw(*arguments):
        drawn.append(arguments)
        return get_batch(*arguments)

    windows = RandomWindows(torch.arange(100), 2, 5, draw=draw)
    assert len(list(islice(windows.epoch(0), 2))) == len(drawn) == 2


def test_a_uniform_guess_of_bytes_costs_eight_bits():
    assert bits_per_byte(math.log(256), 100, 100) == pytest.approx(8)


def test_longer_tokens_are_fewer():
    """Tokens of four bytes with the same loss for each cost a quarter."""
    assert bits_per_byte(2.0, 25, 100) == pytest.approx(bits_per_byte(2.0, 100, 100) / 4)
