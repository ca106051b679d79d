"""The tiny GPT takes any mask; ``test_evaluation.py`` trains it on the Markov source."""

from __future__ import annotations

import pytest
import torch

from attnlab.causality import leaks
from attnlab.data.markov import NUM_SYMBOLS, course_source
from attnlab.evaluation import next_token_loss
from attnlab.masks import causal_mask
from attnlab.models import markov_gpt
from attnlab.models.markov_gpt import MarkovGPT, train_gpt


@pytest.mark.parametrize("ahead", [0, 1])
def test_the_model_sees_what_the_mask_allows(ahead: int) -> None:
    model, mask = MarkovGPT().double().eval(), torch.ones(4, 4).bool().tril(ahead)
    found = leaks(lambda ids: model(ids, mask), 4, NUM_SYMBOLS)
    assert found == [(i, i + 1) for i in range(3)][: 3 * ahead]


def test_the_global_random_state_does_not_change() -> None:
    before = torch.get_rng_state()
    first, second = MarkovGPT(3), MarkovGPT(3)
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(first.symbols.weight, second.symbols.weight)


def test_training_lowers_the_loss_and_ends_in_evaluation_mode(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(markov_gpt, "STEPS", 30)
    ids, model = course_source().sequences("train", 64, 8), MarkovGPT()
    losses = train_gpt(model, ids, causal_mask(8), next_token_loss)
    assert len(losses) == 30
    assert losses[-1] < losses[0] - 0.1
    assert not model.training
