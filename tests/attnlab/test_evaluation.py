"""Losses of language models, compared with torch's and with the entropy of their source."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from attnlab.data.markov import course_source
from attnlab.evaluation import evaluate, is_possible, next_token_loss
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
