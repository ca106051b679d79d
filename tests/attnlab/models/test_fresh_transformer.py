"""Fresh models are repeatable, and their measurements are of what the model does."""

from __future__ import annotations

import pytest
import torch

from attnlab.encoder_decoder import Transformer, init_weights
from attnlab.models import fresh_transformer
from attnlab.models.fresh_transformer import encoder_variances, first_loss, fresh, written


def test_equal_seeds_make_equal_models_and_torchs_generator_stays() -> None:
    before = torch.get_rng_state()
    one, other = (fresh(Transformer, init_weights, seed=3).state_dict() for _ in range(2))
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert torch.equal(before, torch.get_rng_state())


def test_a_first_loss_is_ln_v_if_all_logits_are_equal() -> None:
    model = fresh(Transformer, init_weights, tie="none")
    with torch.no_grad():
        model.head.weight.zero_()
    loss, variance = first_loss(model)
    assert loss == pytest.approx(torch.tensor(float(fresh_transformer.SYMBOLS)).log().item())
    assert variance == 0
    assert (written(model)[1] == 0).all()


def test_pre_norms_stream_grows_and_post_norms_does_not() -> None:
    pre = encoder_variances(fresh(Transformer, init_weights, layers=6))
    post = encoder_variances(fresh(Transformer, init_weights, layers=6, norm="post"))
    assert pre.shape == post.shape == (7,)
    assert pre[0] == post[0]
    assert pre[-1] > 3 * pre[0]
    torch.testing.assert_close(post[1:], torch.ones(6), rtol=1e-3, atol=1e-3)


def test_each_symbol_that_is_written_needs_a_call() -> None:
    model = fresh(Transformer, init_weights, symbols=5)
    assert [fresh_transformer.calls_to_write(model, n) for n in (0, 1, 9)] == [0, 1, 9]
