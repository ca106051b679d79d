"""The language model of the bug clinic: it learns, and an attention that sees ahead shows."""

import pytest
import torch
from torch import nn

from attnlab.data.markov import course_source
from attnlab.models import tiny_lm

SOURCE = course_source()


class MeanOfThePast(nn.Module):
    def forward(self, x):
        return x.cumsum(1) / torch.arange(1, x.shape[1] + 1)[:, None]


class Ahead(nn.Module):
    def forward(self, x):
        return x.roll(-1, 1)


@pytest.mark.parametrize(("attention", "low", "high"), [(MeanOfThePast, 1.3, 2.1), (Ahead, 0, 1)])
def test_the_loss_is_below_the_entropy_only_if_the_model_sees_ahead(attention, low, high):
    torch.manual_seed(0)
    model = tiny_lm.TinyLM(attention())
    losses = tiny_lm.train_lm(model, SOURCE, steps=60)
    assert losses[0] == pytest.approx(2.3, abs=0.5)
    assert low < tiny_lm.evaluate(model, SOURCE.sequences("validation", 64, 32)) < high


def test_continuing_adds_symbols_that_the_model_thinks_likely():
    class Always5(nn.Module):
        def forward(self, ids):
            return torch.where(torch.arange(8) == 5, 30.0, 0.0).expand(*ids.shape, 8)

    ids = SOURCE.sequences("validation", 3, 16)[:, :4]
    made = tiny_lm.continued(Always5(), ids, 6)
    assert made.shape == (3, 10)
    assert torch.equal(made[:, :4], ids)
    assert (made[:, 4:] == 5).all()


def test_surprise_at_the_source_itself_is_its_entropy():
    ids = SOURCE.sequences("validation", 256, 32)
    assert tiny_lm.surprise(SOURCE, ids, 2) == pytest.approx(SOURCE.entropy_rate, abs=0.05)
    dice = torch.randint(0, 8, (256, 32), generator=torch.Generator().manual_seed(0))
    assert tiny_lm.surprise(SOURCE, dice, 2) == pytest.approx(
        tiny_lm.surprise_at_dice(SOURCE), abs=0.05
    )


class Steps(nn.Module):
    """Adds up what it has seen, in a cache; notes the lengths that it is asked for."""

    def __init__(self):
        super().__init__()
        self.lengths = []

    def forward(self, x, cache=None):
        self.lengths.append(x.shape[1])
        total = x.cumsum(1) + (0 if cache is None else cache)
        return total, total[:, -1:]


def test_continuing_with_a_cache_gives_the_same_symbols_from_one_symbol_a_call():
    torch.manual_seed(0)
    attention = Steps()
    model = tiny_lm.TinyLM(tiny_lm.WithCache(attention))
    ids = SOURCE.sequences("validation", 3, 16)[:, :5]
    whole = tiny_lm.continued(model, ids, 6)
    attention.lengths.clear()
    assert torch.equal(tiny_lm.continued_with_cache(model, ids, 6), whole)
    assert attention.lengths == [5, 1, 1, 1, 1, 1]
    assert isinstance(model.attention, tiny_lm.WithCache)
