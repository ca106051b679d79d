"""The tiny GPT takes any mask, and learns to use a leak within seconds."""

from __future__ import annotations

import math

import pytest
import torch

from attnlab.causality import leaks
from attnlab.data.markov import course_source
from attnlab.evaluation import evaluate, is_possible, next_token_loss
from attnlab.masks import causal_mask
from attnlab.models.markov_gpt import LENGTH, STEPS, MarkovGPT, print_losses, train_gpt


def test_the_model_sees_only_what_the_mask_allows() -> None:
    model = MarkovGPT().double()
    for offset, pairs in ((0, []), (1, [(i, i + 1) for i in range(4)])):
        mask = torch.ones(5, 5, dtype=torch.bool).tril(offset)
        assert leaks(lambda ids, mask=mask: model(ids, mask), 5, 8) == pairs


def test_a_new_model_does_not_change_the_global_random_state() -> None:
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    first, again, other = MarkovGPT(1), MarkovGPT(1), MarkovGPT(2)
    torch.testing.assert_close(torch.rand(2), expected)
    assert torch.equal(first.head.weight, again.head.weight)
    assert not torch.equal(first.head.weight, other.head.weight)


def test_a_model_learns_to_use_a_leak_in_seconds() -> None:
    source = course_source()
    ids = source.sequences("train", 1024, LENGTH)
    model = MarkovGPT()
    ahead = causal_mask(LENGTH, LENGTH + 1)[:, :LENGTH]
    losses = train_gpt(model, ids, ahead, next_token_loss)
    assert len(losses) == STEPS
    assert losses[0] == pytest.approx(math.log(8), abs=0.5)
    fresh = source.sequences("validation", 256, LENGTH)
    assert not is_possible(evaluate(model, fresh, ahead), source.entropy_rate, 0.05)
    assert evaluate(model, fresh, causal_mask(LENGTH)) > math.log(8)
    assert not model.training


def test_losses_are_printed_for_trained_models(capsys: pytest.CaptureFixture[str]) -> None:
    views = {"past": lambda: causal_mask(LENGTH), "ahead": lambda: causal_mask(LENGTH)}
    models = {"past": MarkovGPT(), "ahead": None}
    print_losses(models, views, course_source(), evaluate, is_possible)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["past", "guessing"]
    assert "(possible)" in lines[0]
    assert lines[1].endswith("the floor: 1.373")
