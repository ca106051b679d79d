"""The fused attention is the lab's attention, and a cache is a value that gives the same result."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from attnlab.cached_attention import Attention, KVCache
from attnlab.masks import causal_mask, padding_mask
from attnlab.multihead import MultiHeadAttention

B, LQ, LK, D, H = 2, 4, 7, 12, 3


def numbers(*shape: int, seed: int = 3) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.fixture
def pair() -> tuple[Attention, MultiHeadAttention]:
    """The fused attention and the lab's, with the same weights."""
    fused, lab = Attention(D, H).double(), MultiHeadAttention(D, H).double()
    fused.load_state_dict(lab.state_dict())
    return fused, lab


MASKS = {
    "none": None,
    "rows": torch.tensor([[True, False, True, True, False, True, True]] * LQ),
    "keys": padding_mask(torch.tensor([[5, 6, 7, 1, 0, 0, 0], [5, 1, 2, 3, 4, 6, 0]]), 0),
    "no key for one query": causal_mask(LQ, LK, None) & (torch.arange(LQ) > 0)[:, None],
}


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("need_weights", [False, True])
def test_output_weights_and_gradients_are_the_labs(
    pair: tuple[Attention, MultiHeadAttention], mask: Tensor | None, need_weights: bool
) -> None:
    fused, lab = pair
    x, memory = numbers(B, LQ, D).requires_grad_(), numbers(B, LK, D, seed=4).requires_grad_()
    found = fused(x, fused.keys_values(memory), mask, need_weights=need_weights)
    expected, weights = lab(x, memory, memory, mask, need_weights=True)
    torch.testing.assert_close(found.out, expected, rtol=1e-12, atol=1e-12)
    if need_weights:
        torch.testing.assert_close(found.weights, weights, rtol=1e-12, atol=1e-12)
    else:
        assert found.weights is None
    every = [x, memory, *fused.parameters()]
    ours = torch.autograd.grad(found.out.square().sum(), every)
    theirs = torch.autograd.grad(expected.square().sum(), [x, memory, *lab.parameters()])
    for our, their in zip(ours, theirs, strict=True):
        torch.testing.assert_close(our, their, rtol=1e-10, atol=1e-10)


def test_causal_equals_the_causal_mask(pair: tuple[Attention, MultiHeadAttention]) -> None:
    fused, _ = pair
    x = numbers(B, LQ, D)
    kv = fused.keys_values(x)
    masked = fused(x, kv, causal_mask(LQ), need_weights=True)
    for need_weights in (False, True):
        found = fused(x, kv, is_causal=True, need_weights=need_weights)
        torch.testing.assert_close(found.out, masked.out, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(found.weights, masked.weights)


def test_one_token_at_a_time_gives_the_full_pass(
    pair: tuple[Attention, MultiHeadAttention],
) -> None:
    fused, _ = pair
    x = numbers(B, LQ, D)
    full = fused(x, fused.keys_values(x), is_causal=True).out
    kept = fused.keys_values(x[:, :1])
    rows = [fused(x[:, :1], kept).out]
    for t in range(1, LQ):
        now = x[:, t : t + 1]
        kept = kept.append(fused.keys_values(now))
        rows.append(fused(now, kept).out)
    assert kept.length == LQ
    torch.testing.assert_close(torch.cat(rows, 1), full, rtol=1e-12, atol=1e-12)


def test_a_cache_is_a_value() -> None:
    first = KVCache(numbers(B, H, 2, 4), numbers(B, H, 2, 4, seed=4))
    before = first.k.clone()
    longer = first.append(KVCache(numbers(B, H, 1, 4), numbers(B, H, 1, 4)))
    picked = longer.select(torch.tensor([1, 1, 0]))
    assert (first.length, longer.length, picked.length) == (2, 3, 3)
    assert torch.equal(picked.k, longer.k[[1, 1, 0]])
    assert torch.equal(picked.v, longer.v[[1, 1, 0]])
    picked.k.zero_()
    assert torch.equal(first.k, before)
    assert torch.equal(longer.k[:, :, :2], before)


def test_weights_are_dropped_in_training_alone(pair: tuple[Attention, MultiHeadAttention]) -> None:
    fused = Attention(D, H, dropout=1.0).double()
    fused.load_state_dict(pair[0].state_dict())
    x = numbers(B, LQ, D)
    for need_weights in (False, True):
        dropped = fused(x, fused.keys_values(x), need_weights=need_weights)
        assert torch.equal(dropped.out, fused.out_proj.bias.expand(B, LQ, D))
    assert dropped.weights is not None
    torch.testing.assert_close(dropped.weights.sum(-1), torch.ones(B, H, LQ).double())
    fused.eval()
    kept = fused(x, fused.keys_values(x)).out
    torch.testing.assert_close(kept, pair[0](x, pair[0].keys_values(x)).out)


@pytest.mark.parametrize("heads", [0, -2, 5])
def test_heads_must_divide_the_features(heads: int) -> None:
    with pytest.raises(ValueError, match="cannot be divided equally"):
        Attention(D, heads)


def test_masks_that_would_be_misread_are_refused() -> None:
    fused = Attention(D, H)
    x = torch.zeros(B, LQ, D)
    kv = fused.keys_values(x)
    with pytest.raises(ValueError, match="2 or 4 axes, not 3"):
        fused(x, kv, torch.ones(B, LQ, LQ, dtype=torch.bool))
    with pytest.raises(ValueError, match="as many queries as keys"):
        fused(x[:, :1], kv, is_causal=True)
    with pytest.raises(ValueError, match="without another mask"):
        fused(x, kv, torch.ones(LQ, LQ, dtype=torch.bool), is_causal=True)
    assert isinstance(fused, nn.Module)
