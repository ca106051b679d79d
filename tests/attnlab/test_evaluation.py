"""Losses of language models, compared with torch's and with the entropy of their source."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from attnlab.batching import make_batch
from attnlab.data.dates import EOS, PAD
from attnlab.data.markov import course_source
from attnlab.evaluation import accuracy, evaluate, forced_and_free, is_possible, next_token_loss
from attnlab.masks import causal_mask
from attnlab.models.markov_gpt import LENGTH, MarkovGPT


def test_the_loss_is_torchs_cross_entropy_of_the_next_token() -> None:
    logits = torch.randn(3, 5, 7, dtype=torch.float64, requires_grad=True)
    ids = torch.randint(0, 7, (3, 5))
    expected = nn.functional.cross_entropy(logits[:, :-1].mT, ids[:, 1:])
    torch.testing.assert_close(next_token_loss(logits, ids), expected)
    assert torch.autograd.gradcheck(lambda x: next_token_loss(x, ids), logits)


def test_a_uniform_model_is_surprised_by_the_logarithm_of_the_vocabulary() -> None:
    ids = torch.randint(0, 7, (3, 5))
    assert float(next_token_loss(torch.zeros(3, 5, 7), ids)) == pytest.approx(math.log(7))


def test_the_best_possible_model_has_the_entropy_as_its_loss() -> None:
    source = course_source()
    ids = source.sequences("validation", 1024, LENGTH)
    logits = torch.zeros(*ids.shape, 8, dtype=torch.float64)
    logits[:, 1:] = source.transitions[ids[:, :-1], ids[:, 1:]].log()
    best = float(next_token_loss(logits[:, 1:], ids[:, 1:]))
    assert best == pytest.approx(source.entropy_rate, abs=0.02)
    assert is_possible(best, source.entropy_rate, 0.05)


def test_evaluation_does_not_change_the_model() -> None:
    model, ids = MarkovGPT(), torch.randint(0, 8, (3, 9))
    for mode in (True, False):
        model.train(mode)
        loss = evaluate(model, ids, causal_mask(9))
        assert isinstance(loss, float)
        assert model.training is mode
    assert all(parameter.grad is None for parameter in model.parameters())


def test_a_loss_below_the_floor_and_nan_are_impossible() -> None:
    assert is_possible(1.33, 1.373, 0.05)
    assert is_possible(math.inf, 1.373, 0.05)
    assert not is_possible(1.32, 1.373, 0.05)
    assert not is_possible(math.nan, 1.373, 0.05)


def test_every_module_gets_its_mode_back_even_if_the_loss_fails() -> None:
    model, ids = MarkovGPT().train(), torch.randint(0, 8, (3, 9))
    model.norm.eval()

    def fails(logits: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        evaluate(model, ids, causal_mask(9), fails)
    assert (model.training, model.block.training, model.norm.training) == (True, True, False)


def test_accuracy_counts_rows_and_symbols() -> None:
    labels = torch.tensor([[5, 6, EOS], [7, EOS, PAD], [8, 9, EOS]])
    written = torch.tensor([[5, 6, EOS, 9], [7, EOS, 4, 9], [8, 3, EOS, 9]])
    assert accuracy(written, labels) == (pytest.approx(2 / 3), pytest.approx(7 / 8))
    assert accuracy(written[:, :2], labels) == (pytest.approx(1 / 3), pytest.approx(5 / 8))


class CountsUp(nn.Module):
    """Copies the first symbol of the source, then adds 1 to what it has read; a 6 becomes 9."""

    def encode(self, source: Tensor, source_valid: Tensor) -> Tensor:
        return source[:, :1]

    def decode(self, target: Tensor, memory: Tensor, source_valid: Tensor) -> Tensor:
        following = torch.where(target == 6, 9, target + 1)
        following[:, 0] = memory[:, 0]
        following[target >= 9] = EOS
        return nn.functional.one_hot(following, 12).double()

    def forward(self, source: Tensor, source_valid: Tensor, target: Tensor) -> Tensor:
        return self.decode(target, self.encode(source, source_valid), source_valid)


def test_a_mistake_costs_more_when_a_model_reads_its_own_symbols() -> None:
    rows = [[3, 4, 5, 6, 7, 8, 9], [7, 8, 9]]
    model = CountsUp().train()
    forced, free = forced_and_free(model, make_batch([([row[0]], row) for row in rows]))
    assert forced == (0.5, pytest.approx(11 / 12))  # only the 7 after the 6
    assert free == (0.5, pytest.approx(8 / 12))  # 3 4 5 6 9 EOS
    assert model.training
