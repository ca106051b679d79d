"""torch's own multi-head attention with the weights of another layer gives the same results."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from attnlab.attention import scaled_dot_product_attention
from attnlab.checking.torch_attention import Attention, spellings, torch_equivalent
from attnlab.checking.weights import MissingWeightError
from attnlab.multihead import MultiHeadAttention


@pytest.mark.parametrize("sizes", [(10, 3, 4, 5), (7, 2, 5, 1), (20, 2, 3, 4), (9, 1, 4, 2)])
@pytest.mark.parametrize("bias", [True, False])
def test_torchs_layer_returns_the_same_results(sizes: tuple[int, ...], bias: bool) -> None:
    torch.manual_seed(1)
    d_model, heads, *_ = sizes
    layer = MultiHeadAttention(*sizes, bias=bias).double()
    for parameter in layer.parameters():
        nn.init.normal_(parameter)
    assert_equal_torchs(layer, torch_equivalent(layer, *sizes, bias=bias), d_model, heads)
    assert_equal_torchs(layer, torch_equivalent(layer, *sizes), d_model, heads)


def assert_equal_torchs(layer: nn.Module, attend: Attention, d_model: int, heads: int) -> None:
    q, k, v = (torch.randn(2, n, d_model, dtype=torch.float64) for n in (3, 5, 5))
    mask = torch.rand(2, heads, 3, 5) < 0.5
    mask[..., 1] = True
    for allowed in (None, mask, mask[:, :1], mask[:, :1, :1], mask[0, 0]):
        out, weights = layer(q, k, v, allowed, need_weights=True)
        torchs_out, torchs_weights = attend(q, k, v, allowed)
        torch.testing.assert_close(out, torchs_out)
        torch.testing.assert_close(weights, torchs_weights)


def test_a_layer_without_a_weight_is_named() -> None:
    layer = MultiHeadAttention(10, 3, d_k=4, d_v=5)
    del layer.k_proj
    with pytest.raises(MissingWeightError, match=r"k_proj\.weight"):
        torch_equivalent(layer, 10, 3, 4, 5)


def test_a_prefix_comes_before_every_name() -> None:
    plain, inside = spellings(), spellings("attention.")
    assert inside["attention.q_proj.weight"] == tuple(
        f"attention.{name}" for name in plain["q_proj.weight"]
    )


class Fused(nn.Module):
    """A layer with one matrix for queries, keys and values."""

    def __init__(self, layer: MultiHeadAttention) -> None:
        super().__init__()
        inputs = (layer.q_proj, layer.k_proj, layer.v_proj)
        self.qkv = nn.Linear(10, 39, bias=False)
        self.out = nn.Linear(15, 10, bias=False)
        with torch.no_grad():
            self.qkv.weight.copy_(torch.cat([projection.weight for projection in inputs]))
            self.out.weight.copy_(layer.out_proj.weight)


def test_a_fused_layer_is_found_under_its_usual_names() -> None:
    layer = MultiHeadAttention(10, 3, d_k=4, d_v=5, bias=False)
    x = torch.randn(2, 6, 10)
    out, _ = torch_equivalent(Fused(layer), 10, 3, 4, 5, bias=False)(x, x, x)
    torch.testing.assert_close(out, layer(x, x, x))


def test_layers_for_each_head_are_found_under_their_usual_names() -> None:
    names = spellings()["q_proj.weight"]
    assert {f"{name}.{{i}}.weight" for name in ("q", "q_proj", "q_heads", "heads_q")} <= {*names}


def test_biases_are_those_that_the_layer_has() -> None:
    layer, x = MultiHeadAttention(10, 3, d_k=4, d_v=5, bias=False), torch.randn(2, 6, 10)
    out, _ = torch_equivalent(Fused(layer), 10, 3, 4, 5)(x, x, x)
    torch.testing.assert_close(out, layer(x, x, x))
    with pytest.raises(MissingWeightError, match=r"q_proj\.bias"):
        torch_equivalent(layer, 10, 3, 4, 5, bias=True)


@pytest.mark.parametrize("lost", ["q_proj", "k_proj", "v_proj", "out_proj"])
@pytest.mark.parametrize("others", [True, False])
def test_a_layer_that_lacks_only_some_biases_is_an_error(lost: str, others: bool) -> None:
    layer = MultiHeadAttention(10, 3, d_k=4, d_v=5, bias=others)
    part = layer.get_submodule(lost)
    part.bias = None if others else nn.Parameter(torch.zeros(len(part.weight)))
    with pytest.raises(MissingWeightError, match=r"_proj\.bias"):
        torch_equivalent(layer, 10, 3, 4, 5)


def test_a_bias_of_unknown_name_is_not_taken_for_zeros() -> None:
    layer = MultiHeadAttention(10, 3, d_k=4, d_v=5, bias=False)
    layer.shift = nn.Parameter(torch.ones(10))
    with pytest.raises(MissingWeightError, match=r"shift \(10,\)"):
        torch_equivalent(layer, 10, 3, 4, 5)


@pytest.mark.parametrize("sizes", [(10, 3, 4, 5), (9, 1, 4, 2), (12, 3, 4, 4), (4, 4, 4, 4)])
@pytest.mark.parametrize("bias", [True, False])
def test_raw_parameters_with_an_axis_for_the_heads_are_found(
    sizes: tuple[int, ...], bias: bool
) -> None:
    d_model, heads, d_k, d_v = sizes
    layer = HeadsFirst(d_model, heads, d_k, d_v, bias=bias).double()
    for parameter in layer.parameters():
        nn.init.normal_(parameter)
    assert_equal_torchs(layer, torch_equivalent(layer, *sizes), d_model, heads)


@pytest.mark.parametrize("sizes", [(10, 3, 4, 5), (4, 4, 4, 4)])
def test_a_wrong_layer_with_an_axis_for_the_heads_stays_wrong(sizes: tuple[int, ...]) -> None:
    class NotScaled(HeadsFirst):
        def forward(self, q: Tensor, *others: Tensor, **options: bool) -> tuple[Tensor, Tensor]:
            return super().forward(2 * q, *others, **options)

    layer = NotScaled(*sizes, bias=True).double()
    for parameter in layer.parameters():
        nn.init.normal_(parameter)
    with pytest.raises(AssertionError):
        assert_equal_torchs(layer, torch_equivalent(layer, *sizes), *sizes[:2])


class HeadsFirst(nn.Module):
    """Raw parameters with an axis for the heads, used by einsum."""

    def __init__(self, d_model: int, heads: int, d_k: int, d_v: int, bias: bool) -> None:
        super().__init__()
        for letter, d in (("Q", d_k), ("K", d_k), ("V", d_v)):
            weight = nn.Parameter(torch.empty(heads, d_model, d))
            self.register_parameter(f"W_{letter}", weight)
            b = nn.Parameter(torch.empty(heads, d)) if bias else None
            self.register_parameter(f"b_{letter}", b)
        self.W_O = nn.Parameter(torch.empty(heads, d_v, d_model))
        self.b_O = nn.Parameter(torch.empty(d_model)) if bias else None

    def forward(
        self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, need_weights: bool = True
    ) -> tuple[Tensor, Tensor]:
        projections = (q, self.W_Q, self.b_Q), (k, self.W_K, self.b_K), (v, self.W_V, self.b_V)
        q, k, v = (
            torch.einsum("btm,hmd->bhtd", x, weight) + (0 if b is None else b[:, None])
            for x, weight, b in projections
        )
        out, weights = scaled_dot_product_attention(q, k, v, mask)
        mixed = torch.einsum("bhtd,hdm->btm", out, self.W_O)
        return mixed + (0 if self.b_O is None else self.b_O), weights


def test_a_query_without_allowed_keys_gets_nan_from_torch() -> None:
    layer, x = MultiHeadAttention(10, 3, d_k=4, d_v=5), torch.randn(1, 2, 10)
    out, _ = torch_equivalent(layer, 10, 3, 4, 5)(x, x, x, torch.ones(2, 2).bool().tril(-1))
    assert bool(out[0, 0].isnan().all())
    assert bool(out[0, 1].isfinite().all())
