"""The GPT of lab 9: the same numbers as the library's own GPT, and no look ahead."""

from __future__ import annotations

import pytest
import torch

from attnlab.causality import leaks
from attnlab.decoder_only import GPT
from attnlab.gpt import GPT as GPTWithCache
from attnlab.gpt import GPTConfig

CFG = GPTConfig(vocab_size=5, context=6, d_model=12, num_heads=3, num_layers=2)


@pytest.fixture
def model():
    model = GPT(CFG).double()
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, 0.7, generator=generator)
    return model.eval()


def test_its_weights_fit_the_gpt_with_a_cache_and_compute_the_same(model):
    other = GPTWithCache(CFG).double().eval()
    other.load_state_dict(model.state_dict())
    ids = torch.randint(5, (3, 6), generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(model(ids), other(ids).logits, rtol=0, atol=1e-12)


def test_it_does_not_look_ahead(model):
    assert leaks(model, 4, 5) == []


def test_a_text_longer_than_the_context_is_refused(model):
    with pytest.raises(ValueError, match="7 tokens, but the model reads only 6"):
        model(torch.zeros(1, 7, dtype=torch.int64))
