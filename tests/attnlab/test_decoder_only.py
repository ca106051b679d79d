"""The GPT of lab 9: the same numbers as the library's own GPT, and no look ahead."""

from __future__ import annotations

import pytest
import torch

from attnlab.causality import leaks
from attnlab.decoder_only import GPT, count_gpt_params, init_gpt
from attnlab.gpt import GPT as GPTWithCache
from attnlab.gpt import GPTConfig
from attnlab.gpt import init_gpt as init_gpt_with_cache

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


@pytest.mark.parametrize(
    ("name", "millions"),
    [("gpt2", 124.44), ("gpt2-medium", 354.82), ("gpt2-large", 774.03), ("gpt2-xl", 1557.61)],
)
def test_the_papers_sizes_have_the_known_numbers_of_parameters(name, millions):
    cfg = GPTConfig.of_size(name)
    with torch.device("meta"):
        model = GPT(cfg)
    assert count_gpt_params(cfg) == sum(p.numel() for p in model.parameters())
    assert round(count_gpt_params(cfg) / 1e6, 2) == millions


def test_first_weights_are_those_of_the_gpt_with_a_cache_in_size():
    """Both draw from the same distributions, though not the same numbers."""
    cfg = GPTConfig(50, context=40, d_model=96, num_heads=3, num_layers=8)
    drawn = []
    for kind, draw in ((GPT, init_gpt), (GPTWithCache, init_gpt_with_cache)):
        model = kind(cfg)
        draw(model, generator=torch.Generator().manual_seed(0))
        drawn.append({name: float(p.detach().std()) for name, p in model.named_parameters()})
    assert drawn[0] == pytest.approx(drawn[1], abs=1.5e-3)
    assert drawn[0]["blocks.0.linear2.weight"] == pytest.approx(0.02 / 4, rel=0.05)
