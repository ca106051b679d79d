"""Masks, compared with torch's attention in each of its conventions, and with lecture N."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd import gradcheck

from attnlab.attention import scaled_dot_product_attention
from attnlab.data.apples import attention_scores
from attnlab.masks import (
    causal_mask,
    combine,
    from_additive,
    padding_mask,
    safe_softmax,
    to_additive,
    to_key_padding_mask,
    to_mha_mask,
)

HALF = (torch.float16, torch.bfloat16)
DTYPES = (*HALF, torch.float32, torch.float64)
PAD = 9


def normal(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(5), dtype=torch.float64)


def random_mask(*shape: int) -> Tensor:
    """About half True, the first key always."""
    mask = torch.rand(*shape, generator=torch.Generator().manual_seed(7)) > 0.5
    mask[..., 0] = True
    return mask


def sentences() -> Tensor:
    """(2, 5): the first is full, the second ends with two padding tokens."""
    return torch.tensor([[4, 0, 7, 2, 1], [3, 0, 5, PAD, PAD]])


def empty_rows(*shape: int) -> Tensor:
    """A random mask in which the second query has no allowed key."""
    mask = random_mask(*shape)
    mask[..., 1, :] = False
    return mask


# causal_mask


@pytest.mark.parametrize("T", [1, 2, 5, 8])
def test_a_square_causal_mask_equals_is_causal_of_sdpa(T: int) -> None:
    q, k, v = normal(3, 2, 3, T, 4).unbind(0)
    ours = F.scaled_dot_product_attention(q, k, v, attn_mask=causal_mask(T))
    assert torch.allclose(ours, F.scaled_dot_product_attention(q, k, v, is_causal=True))
    assert causal_mask(T).dtype == torch.bool
    assert torch.equal(causal_mask(T), causal_mask(T, T))


def test_a_causal_mask_for_a_cache_is_the_last_rows_of_the_square_one() -> None:
    for Lk in range(1, 8):
        for Lq in range(1, Lk + 1):
            assert torch.equal(causal_mask(Lq, Lk), causal_mask(Lk)[Lk - Lq :])
    assert causal_mask(2, 4).tolist() == [[True, True, True, False], [True, True, True, True]]


def test_queries_before_every_key_have_no_keys() -> None:
    mask = causal_mask(5, 2)
    assert mask.any(-1).tolist() == [False, False, False, True, True]
    assert torch.equal(mask[3:], causal_mask(2))


def test_masks_are_made_on_the_given_device() -> None:
    assert causal_mask(3, 5, device="meta").device.type == "meta"
    assert causal_mask(3, device=torch.device("cpu")).device.type == "cpu"


# padding_mask and combine


@pytest.mark.parametrize("pad", [0, 3, -1])
def test_padding_is_false_for_every_head_and_query(pad: int) -> None:
    ids = sentences().masked_fill(sentences() == PAD, pad).masked_fill(sentences() == 3, 6)
    mask = padding_mask(ids, pad)
    assert mask.shape == (2, 1, 1, 5)
    assert mask.dtype == torch.bool
    assert torch.equal(mask.expand(2, 3, 4, 5)[:, 2, 1], ids != pad)


def test_causal_and_padding_in_sdpa() -> None:
    q, k, v = normal(3, 2, 3, 5, 4).unbind(0)
    mask = combine(causal_mask(5), padding_mask(sentences(), PAD))
    assert mask is not None
    assert mask.shape == (2, 1, 5, 5)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    changed = v.clone()
    changed[1, :, 3:] = 1e6
    assert torch.equal(out[1], F.scaled_dot_product_attention(q, k, changed, attn_mask=mask)[1])
    ours, weights = scaled_dot_product_attention(q, k, v, mask)
    assert torch.allclose(ours, out)
    assert not weights[~mask.expand_as(weights)].any()


def test_combine_is_a_logical_and_in_any_order() -> None:
    masks = [random_mask(4, 4), random_mask(4, 1, 1, 4), random_mask(1, 3, 1, 4)]
    before = [mask.clone() for mask in masks]
    expected = masks[0] & masks[1] & masks[2]
    for order in ([0, 1, 2], [2, 1, 0], [1, 2, 0]):
        out = combine(None, *(masks[i] for i in order))
        assert out is not None
        assert torch.equal(out, expected)
    assert all(torch.equal(mask, then) for mask, then in zip(masks, before, strict=True))


def test_combine_without_masks_is_none() -> None:
    mask = random_mask(3, 5)
    assert combine() is None
    assert combine(None, None) is None
    alone = combine(None, mask)
    assert alone is not None
    assert torch.equal(alone, mask)


# to_additive


@pytest.mark.parametrize("dtype", DTYPES)
def test_additive_and_boolean_masks_have_the_same_effect(dtype: torch.dtype) -> None:
    mask, scores = random_mask(2, 1, 3, 5), normal(2, 4, 3, 5).to(dtype)
    bias = to_additive(mask, dtype)
    assert bias.dtype == dtype
    assert bias.shape == mask.shape
    assert bool(bias.isinf().any()) == (dtype not in HALF)
    precision = 4 * torch.finfo(dtype).eps
    assert torch.allclose(
        torch.softmax(scores + bias, -1), safe_softmax(scores, mask), rtol=0, atol=precision
    )
    assert torch.equal(from_additive(bias), mask)


@pytest.mark.parametrize("dtype", DTYPES)
def test_sdpa_takes_both_kinds_of_mask(dtype: torch.dtype) -> None:
    q, k, v = normal(3, 2, 3, 5, 4).to(dtype).unbind(0)
    mask = causal_mask(5)
    booleans = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    numbers = F.scaled_dot_product_attention(q, k, v, attn_mask=to_additive(mask, dtype))
    assert torch.allclose(booleans, numbers, rtol=0, atol=8 * torch.finfo(dtype).eps)


def test_half_precision_stays_finite_if_no_key_is_allowed() -> None:
    nothing = torch.zeros(2, 3, dtype=torch.bool)
    for dtype in HALF:
        scores = normal(2, 3).to(dtype)
        assert torch.softmax(scores + to_additive(nothing, dtype), -1).isfinite().all()
    assert torch.softmax(normal(2, 3) + to_additive(nothing, torch.float64), -1).isnan().all()


def test_the_masked_attention_of_lecture_n() -> None:
    scores = attention_scores()
    bias = to_additive(causal_mask(4), torch.float64)
    expected = torch.tensor(
        [
            [1.0, 0.0, 0.0, 0.0],
            [0.3775, 0.6225, 0.0, 0.0],
            [0.2584, 0.3156, 0.4260, 0.0],
            [0.2144, 0.2619, 0.2619, 0.2619],
        ],
        dtype=torch.float64,
    )
    assert torch.allclose(torch.softmax(scores + bias, -1), expected, atol=5e-5)
    assert torch.allclose(safe_softmax(scores, causal_mask(4)), expected, atol=5e-5)
    fingerprints = {
        "mask after softmax": torch.softmax(scores, -1).tril()[2],
        "fill 0": torch.softmax(scores.tril(), -1)[2],
        "softmax over dim 0": torch.softmax(scores + bias, 0)[2],
    }
    assert {name: [round(x, 4) for x in row.tolist()] for name, row in fingerprints.items()} == {
        "mask after softmax": [0.2053, 0.2508, 0.3385, 0.0],
        "fill 0": [0.2094, 0.2558, 0.3453, 0.1895],
        "softmax over dim 0": [0.2074, 0.2985, 0.5744, 0.0],
    }


# safe_softmax


@pytest.mark.parametrize("dtype", DTYPES)
def test_safe_softmax_equals_torch_if_torch_gives_numbers(dtype: torch.dtype) -> None:
    scores, mask = normal(2, 3, 4, 5).to(dtype), random_mask(2, 1, 4, 5)
    ours = safe_softmax(scores, mask)
    torchs = torch.softmax(scores.masked_fill(~mask, -math.inf), -1)
    assert ours.dtype == dtype
    assert torch.allclose(ours, torchs, rtol=0, atol=4 * torch.finfo(dtype).eps)
    assert not ours[~mask.expand_as(ours)].any()


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_row_without_a_key_is_zero_and_has_no_gradient(dtype: torch.dtype) -> None:
    scores = normal(2, 3, 4, 5).to(dtype).requires_grad_()
    mask = empty_rows(2, 1, 4, 5)
    weights = safe_softmax(scores, mask)
    assert not weights[:, :, 1].any()
    weights.square().sum().backward()
    assert scores.grad is not None
    assert scores.grad.isfinite().all()
    assert not scores.grad[:, :, 1].any()
    assert not scores.grad[~mask.expand_as(scores)].any()
    assert scores.grad[:, :, 0].any()


def test_gradients_of_safe_softmax() -> None:
    scores = normal(2, 3, 4).requires_grad_()
    for mask in (random_mask(2, 3, 4), empty_rows(3, 4), torch.zeros(3, 4, dtype=torch.bool)):
        assert gradcheck(lambda x, m=mask: safe_softmax(x, m), scores)


@pytest.mark.parametrize("value", [1e30, -1e30, math.inf, -math.inf, math.nan])
def test_scores_of_forbidden_keys_have_no_effect(value: float) -> None:
    scores, mask = normal(2, 3, 4), empty_rows(2, 3, 4)
    there = scores.masked_fill(~mask, value).requires_grad_()
    weights = safe_softmax(there, mask)
    assert torch.equal(weights, safe_softmax(scores, mask))
    (gradient,) = torch.autograd.grad(weights.square().sum(), there)
    assert gradient.isfinite().all()


def test_scores_far_from_zero() -> None:
    scores, mask = normal(3, 4, 5), random_mask(3, 4, 5)
    for offset in (-1e12, 1e4, 1e12):
        shifted = scores + offset
        expected = torch.softmax(shifted.masked_fill(~mask, -math.inf), -1)
        assert torch.allclose(safe_softmax(shifted, mask), expected)


def test_a_query_without_keys_is_treated_as_in_sdpa() -> None:
    q, k, v = normal(3, 2, 3, 5, 4).unbind(0)
    mask = empty_rows(2, 1, 5, 5)
    ours = safe_softmax(q @ k.mT / 2.0, mask) @ v
    theirs, weights = scaled_dot_product_attention(q, k, v, mask)
    assert torch.allclose(ours, theirs)
    assert not weights[:, :, 1].any()


# the conventions of torch's modules


def attention(num_heads: int = 3) -> nn.MultiheadAttention:
    torch.manual_seed(0)
    return nn.MultiheadAttention(6, num_heads, batch_first=True, dtype=torch.float64)


def by_our_masks(module: nn.MultiheadAttention, x: Tensor, mask: Tensor) -> Tensor:
    """What `module` computes, written out, with a mask in which True means allowed."""
    B, T, d = x.shape
    projected = F.linear(x, module.in_proj_weight, module.in_proj_bias)
    q, k, v = (
        part.view(B, T, module.num_heads, -1).transpose(1, 2) for part in projected.split(d, -1)
    )
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return module.out_proj(out.transpose(1, 2).reshape(B, T, d))


def test_attn_mask_of_multihead_attention() -> None:
    module, x = attention(), normal(2, 5, 6)
    masks = (causal_mask(5), random_mask(2, 1, 5, 5), random_mask(2, 3, 5, 5))
    for mask in masks:
        theirs, _ = module(x, x, x, attn_mask=to_mha_mask(mask, 3))
        assert torch.allclose(theirs, by_our_masks(module, x, mask))
    assert to_mha_mask(masks[0], 3).shape == (5, 5)
    assert to_mha_mask(masks[1], 3).shape == (6, 5, 5)


def test_key_padding_mask_of_multihead_attention() -> None:
    module, x = attention(), normal(2, 5, 6)
    padding = padding_mask(sentences(), PAD)
    theirs, _ = module(x, x, x, key_padding_mask=to_key_padding_mask(padding))
    assert torch.allclose(theirs, by_our_masks(module, x, padding))
    both = combine(padding, causal_mask(5))
    assert both is not None
    theirs, _ = module(
        x,
        x,
        x,
        attn_mask=to_mha_mask(causal_mask(5), 3),
        key_padding_mask=to_key_padding_mask(padding),
    )
    assert torch.allclose(theirs, by_our_masks(module, x, both))


@pytest.mark.parametrize("low", [-math.inf, -1e9, -1e4])
def test_every_low_number_forbids_a_key(low: float) -> None:
    mask = random_mask(3, 5)
    assert torch.equal(from_additive(torch.zeros(3, 5).masked_fill(~mask, low)), mask)


def test_torchs_own_additive_causal_mask() -> None:
    theirs = nn.Transformer.generate_square_subsequent_mask(5, dtype=torch.float64)
    assert torch.equal(to_additive(causal_mask(5), torch.float64), theirs)
    assert torch.equal(from_additive(theirs), causal_mask(5))


def test_the_arguments_stay_unchanged() -> None:
    scores, mask, ids = normal(2, 3, 4, 5), random_mask(2, 1, 4, 5), sentences()
    then = (scores.clone(), mask.clone(), ids.clone())
    padding_mask(ids, PAD)
    combine(mask, random_mask(5))
    to_additive(mask, torch.float16)
    safe_softmax(scores, mask)
    to_mha_mask(mask, 3)
    to_key_padding_mask(padding_mask(ids, PAD))
    now = (scores, mask, ids)
    assert all(torch.equal(a, b) for a, b in zip(now, then, strict=True))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_an_allowed_score_may_be_the_lowest_number(dtype: torch.dtype) -> None:
    """Filled with the lowest number, a forbidden key would get the same weight."""
    scores = torch.tensor([[torch.finfo(dtype).min, 0, 5]], dtype=dtype)
    weights = safe_softmax(scores, torch.tensor([True, False, False]))
    assert torch.equal(weights, torch.tensor([[1.0, 0.0, 0.0]], dtype=dtype))


def test_safe_softmax_without_any_key_is_empty() -> None:
    assert safe_softmax(torch.zeros(2, 0), torch.ones(2, 0, dtype=torch.bool)).shape == (2, 0)


@pytest.mark.parametrize(("scores", "finite"), [(-15.9, True), (-16.0, False)])
def test_half_precision_stays_finite_for_scores_above_minus_16(scores: float, finite: bool) -> None:
    bias = to_additive(torch.zeros(3, dtype=torch.bool), torch.float16)
    assert (torch.full((3,), scores).half() + bias).isfinite().all() == finite
    lowest = torch.tensor(torch.finfo(torch.float16).min, dtype=torch.float16)
    assert float(lowest.nextafter(torch.zeros_like(lowest)) - lowest) == 32, "the spacing there"


@pytest.mark.parametrize("added", [True, False])
def test_nan_replaced_in_the_weights_stays_in_the_gradient_if_infinity_was_added(
    added: bool,
) -> None:
    """What lab 5 says before step 5.5."""
    scores = torch.randn(2, 3, requires_grad=True)
    forbidden = torch.ones(2, 3, dtype=torch.bool)
    bias = torch.zeros(2, 3).masked_fill(forbidden, -torch.inf)
    filled = scores + bias if added else scores.masked_fill(forbidden, -torch.inf)
    weights = torch.softmax(filled, -1).nan_to_num(0)
    weights.sum().backward()
    assert torch.equal(weights, torch.zeros(2, 3))
    assert scores.grad is not None
    assert bool(scores.grad.isnan().all()) == added
    assert added or torch.equal(scores.grad, torch.zeros(2, 3))
