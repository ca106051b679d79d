"""Sampling: judged by the distribution of the draws, never by single draws."""

from __future__ import annotations

import math

import pytest
import torch

from attnlab.sampling import sample

P = torch.tensor([0.15, 0.5, 0.05, 0.2, 0.1], dtype=torch.float64)
DRAWS = 20_000


def shares(**how):
    """How often each token of P is drawn."""
    generator = torch.Generator().manual_seed(0)
    drawn = sample(P.log().expand(DRAWS, -1), generator=generator, **how)
    return drawn.bincount(minlength=len(P)) / DRAWS


def kept(*tokens, power=1.0):
    """P to a power, on these tokens alone, as probabilities."""
    p = torch.zeros_like(P)
    p[list(tokens)] = P[list(tokens)] ** power
    return p / p.sum()


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({}, kept(0, 1, 2, 3, 4)),
        ({"temperature": 0.5}, kept(0, 1, 2, 3, 4, power=2.0)),
        ({"temperature": 2.0}, kept(0, 1, 2, 3, 4, power=0.5)),
        ({"top_k": 2}, kept(1, 3)),
        ({"top_k": 99}, kept(0, 1, 2, 3, 4)),
        ({"top_p": 0.9}, kept(0, 1, 3, 4)),  # the total without the fourth is .85
        ({"top_p": 0.4}, kept(1)),
        ({"top_p": 1.0}, kept(0, 1, 2, 3, 4)),
        ({"top_p": 0.9, "temperature": 0.5}, kept(0, 1, 3, power=2.0)),
        ({"top_k": 3, "top_p": 0.8}, kept(1, 3)),  # .5 + .2 of .85 is .82
        ({"top_p": 1e-9}, kept(1)),
    ],
)
def test_tokens_are_drawn_with_the_right_shares(how, expected):
    sd = (expected * (1 - expected) / DRAWS).sqrt()
    assert ((shares(**how) - expected).abs() <= 5 * sd).all()


def test_temperature_zero_takes_the_likeliest():
    logits = torch.randn(3, 4, 7, generator=torch.Generator().manual_seed(0))
    assert sample(logits, 0, top_k=3, top_p=0.2).equal(logits.argmax(-1))
    assert sample(logits, 1e-30).equal(logits.argmax(-1))


def test_rows_are_drawn_independently_and_nothing_else_changes():
    logits = torch.zeros(200, 5)
    state = torch.get_rng_state()
    first = sample(logits, top_p=0.9, generator=torch.Generator().manual_seed(1))
    again = sample(logits, top_p=0.9, generator=torch.Generator().manual_seed(1))
    assert first.equal(again)
    assert len(first.unique()) == 5
    assert logits.equal(torch.zeros(200, 5))
    assert torch.get_rng_state().equal(state)


@pytest.mark.parametrize("shape", [(5,), (1, 5), (2, 1, 5), (2, 3, 4, 5), (3, 1)])
def test_every_axis_but_the_last_stays(shape):
    assert sample(torch.zeros(shape)).shape == shape[:-1]


def test_a_forbidden_token_is_never_drawn():
    logits = torch.tensor([0.0, -math.inf, 1.0]).expand(500, -1)
    assert 1 not in sample(logits, top_p=0.999)


@pytest.mark.parametrize(
    "how",
    [{"temperature": -0.1}, {"top_k": 0}, {"top_p": 0.0}, {"top_p": 1.1}, {"top_p": math.nan}],
)
def test_numbers_without_a_meaning_are_refused(how):
    with pytest.raises(ValueError, match=r"temperature|top_k|top_p"):
        sample(torch.zeros(2, 5), **how)
