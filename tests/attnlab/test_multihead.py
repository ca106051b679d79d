"""Multi-head attention, compared with torch's layer, the lecture's numbers and single heads."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd import gradcheck

from attnlab.attention import scaled_dot_product_attention
from attnlab.multihead import (
    MultiHeadAttention,
    ablate_head,
    fuse_qkv,
    merge_heads,
    mha_param_shapes,
    project_fused,
    split_heads,
)

B, LQ, LK, D, H = 2, 4, 7, 12, 3
CLOSE = {"rtol": 1e-12, "atol": 1e-12}


def numbers(*shape: int, seed: int = 3) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def texts() -> tuple[Tensor, Tensor, Tensor]:
    return numbers(B, LQ, D), numbers(B, LK, D, seed=4), numbers(B, LK, D, seed=5)


def with_random_weights(module: nn.Module) -> nn.Module:
    module = module.double()
    with torch.no_grad():
        for seed, parameter in enumerate(module.parameters()):
            parameter.copy_(numbers(*parameter.shape, seed=seed) / 2)
    return module


@pytest.fixture
def model() -> MultiHeadAttention:
    built = with_random_weights(MultiHeadAttention(D, H))
    assert isinstance(built, MultiHeadAttention)
    return built


def torchs_twin(model: MultiHeadAttention, bias: bool = True) -> nn.MultiheadAttention:
    """torch's own layer with the weights of `model`."""
    torch_attention = nn.MultiheadAttention(D, H, bias=bias, batch_first=True).double()
    layers = (model.q_proj, model.k_proj, model.v_proj)
    with torch.no_grad():
        torch_attention.in_proj_weight.copy_(torch.cat([layer.weight for layer in layers]))
        torch_attention.out_proj.weight.copy_(model.out_proj.weight)
        if bias:
            torch_attention.in_proj_bias.copy_(torch.cat([layer.bias for layer in layers]))
            torch_attention.out_proj.bias.copy_(model.out_proj.bias)
    return torch_attention


def some_mask(*shape: int) -> Tensor:
    """A mask in which every query has an allowed key."""
    mask = numbers(*shape, seed=9) > 0
    mask[..., 0] = True
    return mask


# Heads


def test_feature_j_of_head_i_has_the_index_in_the_task() -> None:
    x = numbers(B, LQ, D)
    heads = split_heads(x, H)
    for b, t, i, j in torch.cartesian_prod(*map(torch.arange, (B, LQ, H, D // H))).tolist():
        assert heads[b, i, t, j] == x[b, t, i * (D // H) + j]


@pytest.mark.parametrize("num_heads", [1, 2, 3, 4, 6, 12])
def test_merging_is_the_inverse_of_splitting(num_heads: int) -> None:
    x = numbers(LQ, B, D).transpose(0, 1)
    heads = split_heads(x, num_heads)
    assert heads.shape == (B, num_heads, LQ, D // num_heads)
    assert torch.equal(merge_heads(heads), x)
    assert torch.equal(merge_heads(heads.contiguous()), x)


def test_heads_that_do_not_divide_the_features_are_refused() -> None:
    with pytest.raises(ValueError, match=r"12 features .* 5 heads"):
        split_heads(numbers(B, LQ, D), 5)


def test_gradients_of_splitting_and_merging() -> None:
    x = numbers(B, LQ, D).requires_grad_()
    assert gradcheck(lambda x: split_heads(x, H), x)
    assert gradcheck(lambda x: merge_heads(split_heads(x, H) ** 2), x)


# The layer


@pytest.mark.parametrize("bias", [True, False])
def test_outputs_and_weights_equal_torchs(bias: bool) -> None:
    model = with_random_weights(MultiHeadAttention(D, H, bias=bias))
    torch_attention = torchs_twin(model, bias)
    q, k, v = texts()
    for mask in (None, some_mask(LQ, LK)):
        out, weights = model(q, k, v, mask, need_weights=True)
        theirs, their_weights = torch_attention(
            q, k, v, attn_mask=None if mask is None else ~mask, average_attn_weights=False
        )
        torch.testing.assert_close(out, theirs, **CLOSE)
        torch.testing.assert_close(weights, their_weights, **CLOSE)
        torch.testing.assert_close(model(q, k, v, mask), out, rtol=0, atol=0)


def test_a_padding_mask_equals_torchs(model: MultiHeadAttention) -> None:
    q, k, v = texts()
    padding = torch.arange(LK) < torch.tensor([5, 3])[:, None]
    out = model(q, k, v, padding[:, None, None])
    theirs, _ = torchs_twin(model)(q, k, v, key_padding_mask=~padding)
    torch.testing.assert_close(out, theirs, **CLOSE)


def test_a_mask_for_each_head_equals_torchs(model: MultiHeadAttention) -> None:
    q, k, v = texts()
    mask = some_mask(B, H, LQ, LK)
    theirs, _ = torchs_twin(model)(q, k, v, attn_mask=~mask.flatten(0, 1))
    torch.testing.assert_close(model(q, k, v, mask), theirs, **CLOSE)


def test_gradients_equal_torchs(model: MultiHeadAttention) -> None:
    torch_attention = torchs_twin(model)
    mask, direction = some_mask(LQ, LK), numbers(B, LQ, D, seed=8)
    ours, theirs = ([x.requires_grad_() for x in texts()] for _ in range(2))
    (model(*ours, mask) * direction).sum().backward()
    (torch_attention(*theirs, attn_mask=~mask)[0] * direction).sum().backward()
    for x, y in zip(ours, theirs, strict=True):
        torch.testing.assert_close(x.grad, y.grad, **CLOSE)
    layers = (model.q_proj, model.k_proj, model.v_proj)
    stacked = torch.cat([layer.weight.grad for layer in layers])
    torch.testing.assert_close(stacked, torch_attention.in_proj_weight.grad, **CLOSE)
    stacked = torch.cat([layer.bias.grad for layer in layers])
    torch.testing.assert_close(stacked, torch_attention.in_proj_bias.grad, **CLOSE)
    torch.testing.assert_close(
        model.out_proj.weight.grad, torch_attention.out_proj.weight.grad, **CLOSE
    )
    torch.testing.assert_close(
        model.out_proj.bias.grad, torch_attention.out_proj.bias.grad, **CLOSE
    )


def test_given_sizes_equal_heads_computed_one_by_one() -> None:
    model = with_random_weights(MultiHeadAttention(10, 3, d_k=4, d_v=5))
    q, k, v = numbers(B, LQ, 10), numbers(B, LK, 10, seed=4), numbers(B, LK, 10, seed=5)
    out = model.out_proj.bias
    for i in range(3):
        rows, columns = slice(4 * i, 4 * i + 4), slice(5 * i, 5 * i + 5)
        found = F.scaled_dot_product_attention(
            F.linear(q, model.q_proj.weight[rows], model.q_proj.bias[rows]),
            F.linear(k, model.k_proj.weight[rows], model.k_proj.bias[rows]),
            F.linear(v, model.v_proj.weight[columns], model.v_proj.bias[columns]),
        )
        out = out + found @ model.out_proj.weight[:, columns].mT
    torch.testing.assert_close(model(q, k, v), out, **CLOSE)


def test_one_head_equals_attention_between_four_layers() -> None:
    model = with_random_weights(MultiHeadAttention(D, 1))
    q, k, v = texts()
    found, weights = scaled_dot_product_attention(model.q_proj(q), model.k_proj(k), model.v_proj(v))
    out, seen = model(q, k, v, need_weights=True)
    torch.testing.assert_close(out, model.out_proj(found), **CLOSE)
    torch.testing.assert_close(seen, weights[:, None], **CLOSE)


def test_a_query_without_keys_gets_the_last_bias(model: MultiHeadAttention) -> None:
    q, k, v = (x.requires_grad_() for x in texts())
    mask = torch.ones(LQ, LK, dtype=torch.bool)
    mask[1] = False
    out, weights = model(q, k, v, mask, need_weights=True)
    torch.testing.assert_close(out[:, 1], model.out_proj.bias.expand(B, D), **CLOSE)
    assert not weights[:, :, 1].any()
    out.sum().backward()
    assert all(x.grad is not None and x.grad.isfinite().all() for x in (q, k, v))


def test_forbidden_keys_have_no_effect(model: MultiHeadAttention) -> None:
    q, k, v = texts()
    mask = torch.arange(LK) < 4
    before = model(q, k, v, mask)
    k[:, 4:], v[:, 4:] = 1e6, -1e6
    assert torch.equal(model(q, k, v, mask), before)


def test_sentences_of_a_batch_do_not_see_each_other(model: MultiHeadAttention) -> None:
    q, k, v = texts()
    alone = torch.cat([model(q[i : i + 1], k[i : i + 1], v[i : i + 1]) for i in range(B)])
    torch.testing.assert_close(model(q, k, v), alone, **CLOSE)


def test_the_order_of_keys_does_not_matter(model: MultiHeadAttention) -> None:
    q, k, v = texts()
    order = torch.tensor([3, 0, 6, 1, 5, 2, 4])
    torch.testing.assert_close(model(q, k[:, order], v[:, order]), model(q, k, v), **CLOSE)


def test_dropout_drops_weights_while_training() -> None:
    model = with_random_weights(MultiHeadAttention(D, H, dropout=0.25))
    q, k, v = texts()
    out, weights = model.eval()(q, k, v, need_weights=True)
    assert torch.equal(model(q, k, v), out)
    torch.manual_seed(0)
    ours = model.train()(q, k, v)
    torch.manual_seed(0)
    found = F.dropout(weights, 0.25) @ split_heads(model.v_proj(v), H)
    torch.testing.assert_close(ours, model.out_proj(merge_heads(found)), **CLOSE)
    assert not torch.equal(ours, out)


def test_the_dtype_is_kept() -> None:
    model = MultiHeadAttention(D, H)
    out, weights = model(*(x.float() for x in texts()), need_weights=True)
    assert out.dtype == weights.dtype == torch.float32


@pytest.mark.parametrize("given", [{}, {"d_k": 4}, {"d_v": 5}])
def test_impossible_default_sizes_are_refused(given: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"10 features .* 3 heads"):
        MultiHeadAttention(10, 3, **given)


def test_the_layer_shows_its_sizes() -> None:
    model = MultiHeadAttention(D, H, d_v=7)
    assert (model.num_heads, model.d_k, model.d_v) == (H, 4, 7)
    assert model.out_proj.in_features == 21


# The shapes of the parameters


@pytest.mark.parametrize(("heads", "key_dim", "in_all"), [(1, 2, 150), (3, 2, 418), (3, 5, 1021)])
def test_the_lectures_numbers(heads: int, key_dim: int, in_all: int) -> None:
    shapes = mha_param_shapes(heads, key_dim, 16)
    assert sum(map(math.prod, shapes)) == in_all
    assert shapes[:2] == [(16, heads, key_dim), (heads, key_dim)]
    assert shapes[-2:] == [(heads, key_dim, 16), (16,)]
    model = MultiHeadAttention(16, heads, d_k=key_dim, d_v=key_dim)
    assert sum(parameter.numel() for parameter in model.parameters()) == in_all


def test_torchs_own_shapes() -> None:
    layer = nn.MultiheadAttention(D, H)
    assert mha_param_shapes(H, D // H, D, "torch") == [tuple(p.shape) for p in layer.parameters()]


def test_impossible_styles_and_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="keras"):
        mha_param_shapes(3, 4, 12, "jax")
    with pytest.raises(ValueError, match="3 heads of 2"):
        mha_param_shapes(3, 2, 16, "torch")


# One projection instead of three


def test_the_fused_weight_equals_torchs(model: MultiHeadAttention) -> None:
    layers = (model.q_proj, model.k_proj, model.v_proj)
    W, b = fuse_qkv(*(layer.weight for layer in layers), *(layer.bias for layer in layers))
    torch_attention = torchs_twin(model)
    assert torch.equal(W, torch_attention.in_proj_weight)
    assert b is not None
    assert torch.equal(b, torch_attention.in_proj_bias)
    x = numbers(B, LQ, D)
    for part, layer in zip(project_fused(x, W, b, (D, D, D)), layers, strict=True):
        torch.testing.assert_close(part, layer(x), **CLOSE)


@pytest.mark.parametrize("missing", [(), (1,), (0, 2), (0, 1, 2)])
def test_missing_biases_count_as_zeros(missing: tuple[int, ...]) -> None:
    weights = [numbers(rows, 7, seed=rows) for rows in (4, 5, 6)]
    biases = [None if i in missing else numbers(4 + i, seed=i) for i in range(3)]
    W, b = fuse_qkv(*weights, *biases)
    assert (b is None) == (len(missing) == 3)
    x = numbers(B, LQ, 7)
    parts = project_fused(x, W, b, (4, 5, 6))
    for part, weight, bias in zip(parts, weights, biases, strict=True):
        torch.testing.assert_close(part, F.linear(x, weight, bias), **CLOSE)


def test_gradients_reach_all_fused_weights() -> None:
    weights = [numbers(rows, 3, seed=rows).requires_grad_() for rows in (2, 4, 5)]
    biases = [numbers(2).requires_grad_(), None, numbers(5).requires_grad_()]

    def fused(*given: Tensor) -> Tensor:
        W, b = fuse_qkv(*given[:3], given[3], None, given[4])
        return torch.cat(project_fused(numbers(2, 3), W, b, (2, 4, 5)), -1) ** 2

    assert gradcheck(fused, (*weights, biases[0], biases[2]))


# Ablation


@pytest.mark.parametrize("head", range(H))
def test_ablating_subtracts_the_contribution_of_the_head(
    model: MultiHeadAttention, head: int
) -> None:
    q, k, v = texts()
    mask = some_mask(LQ, LK)
    out, weights = model(q, k, v, mask, need_weights=True)
    found = weights[:, head] @ split_heads(model.v_proj(v), H)[:, head]
    added = found @ model.out_proj.weight[:, head * 4 : head * 4 + 4].mT
    less, seen = ablate_head(model, head)(q, k, v, mask, need_weights=True)
    torch.testing.assert_close(less, out - added, **CLOSE)
    assert torch.equal(seen, weights)


def test_ablating_does_not_change_the_model(model: MultiHeadAttention) -> None:
    before = {name: value.clone() for name, value in model.state_dict().items()}
    ablated = ablate_head(model.eval(), 1)
    assert not ablated.training
    for parameter in ablated.parameters():
        nn.init.zeros_(parameter)
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name])


def test_without_heads_only_the_bias_remains(model: MultiHeadAttention) -> None:
    silent = model
    for head in range(H):
        silent = ablate_head(silent, head)
    out = silent(*texts())
    torch.testing.assert_close(out, model.out_proj.bias.expand_as(out), **CLOSE)


@pytest.mark.parametrize("head", [-1, H])
def test_a_missing_head_is_refused(model: MultiHeadAttention, head: int) -> None:
    with pytest.raises(IndexError, match=f"0 to 2, not {head}"):
        ablate_head(model, head)


@pytest.mark.parametrize("heads", [0, -2])
def test_fewer_heads_than_one_are_refused(heads: int) -> None:
    with pytest.raises(ValueError, match="10 features"):
        MultiHeadAttention(10, heads)
    with pytest.raises(ValueError, match="10 features"):
        MultiHeadAttention(10, heads, d_k=4, d_v=5)
    with pytest.raises(ValueError, match="10 features"):
        split_heads(numbers(2, 3, 10), heads)


def test_a_text_without_a_batch_axis_and_a_batch_of_batches(model: MultiHeadAttention) -> None:
    x = numbers(2, 3, 4, model.out_proj.out_features)
    together = model(x, x, x)
    assert torch.allclose(together[1, 2], model(x[1, 2], x[1, 2], x[1, 2]), atol=1e-12)
