"""A layer may cut one matrix into queries, keys and values in any usual order of rows."""

from __future__ import annotations

import warnings
from itertools import permutations

import pytest
import torch
from torch import Tensor, nn

from attnlab.attention import scaled_dot_product_attention
from attnlab.checking.layer_weights import fill_layer, layer_shapes, layer_spellings
from attnlab.checking.weights import Reordered, weight_gradients
from attnlab.encoder_decoder import DecoderLayer, EncoderLayer
from attnlab.layers import FeedForward, Residual
from attnlab.multihead import merge_heads

D = 12
# How a layer names the axes of its fused projection's output: part (p), head (h), feature (f).
ORDERS = ["phf", "hpf", "hfp", "pfh", "fph", "fhp"]


def cut(fused: Tensor, order: str, heads: int, parts: int) -> list[Tensor]:
    """(B, T, parts * D), whose last axis holds parts, heads and features in this order."""
    sizes = {"p": parts, "h": heads, "f": D // heads}
    fused = fused.unflatten(-1, [sizes[axis] for axis in order])
    return [*torch.einsum(f"bt{order}->pbhtf", fused)]  # each (B, h, T, f)


class Fused(nn.Module):
    """Self-attention with one matrix for queries, keys and values."""

    parts = (0, 1, 2)  # where queries, keys and values are

    def __init__(self, order: str, heads: int) -> None:
        super().__init__()
        self.order, self.heads = order, heads
        self.qkv_proj, self.o_proj = nn.Linear(D, 3 * D), nn.Linear(D, D)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        cuts = cut(self.qkv_proj(x), self.order, self.heads, 3)
        q, k, v = (cuts[part] for part in self.parts)
        return self.o_proj(merge_heads(scaled_dot_product_attention(q, k, v, mask)[0]))


class FusedMemory(nn.Module):
    """Attention to the memory with one matrix for its keys and values."""

    def __init__(self, order: str, heads: int) -> None:
        super().__init__()
        self.order, self.heads = order, heads
        self.q_proj, self.kv, self.o_proj = nn.Linear(D, D), nn.Linear(D, 2 * D), nn.Linear(D, D)

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
        (q,) = cut(self.q_proj(x), "phf", self.heads, 1)
        k, v = cut(self.kv(memory), self.order, self.heads, 2)
        return self.o_proj(merge_heads(scaled_dot_product_attention(q, k, v, mask)[0]))


class Encoder(nn.Module):
    def __init__(self, order: str, heads: int, norm: str) -> None:
        super().__init__()
        self.attn, self.mlp = Fused(order, heads), FeedForward(D, 20)
        self.residual1, self.residual2 = Residual(D, mode=norm), Residual(D, mode=norm)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        x = self.residual1(x, lambda y: self.attn(y, mask))
        return self.residual2(x, self.mlp)


class Decoder(Encoder):
    def __init__(self, order: str, heads: int, norm: str) -> None:
        super().__init__(order, heads, norm)
        self.cross_attn, self.residual3 = FusedMemory(order, heads), Residual(D, mode=norm)

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:
        x = self.residual1(x, self.attn)
        x = self.residual2(x, lambda y: self.cross_attn(y, memory))
        return self.residual3(x, self.mlp)


def drawn(decoder: bool) -> dict[str, Tensor]:
    random = torch.Generator().manual_seed(3)
    shapes = layer_shapes(D, 20, decoder=decoder).items()
    return {
        name: torch.randn(shape, generator=random, dtype=torch.float64) / 2
        for name, shape in shapes
    }


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("heads", [1, 3, D])
@pytest.mark.parametrize("order", ORDERS)
def test_any_order_of_rows_is_found_in_encoder_layers(order: str, heads: int, norm: str) -> None:
    weights, x = drawn(decoder=False), torch.randn(2, 5, D, dtype=torch.float64)
    right, other = EncoderLayer(D, heads, 20, norm=norm).double(), Encoder(order, heads, norm)
    right.load_state_dict(weights)
    fill_layer(other.double(), weights)
    torch.testing.assert_close(other(x), right(x))
    (right(x) ** 2).sum().backward()
    (other(x) ** 2).sum().backward()
    gradients = weight_gradients(other, weights, layer_spellings(other))
    for name, parameter in right.named_parameters():
        torch.testing.assert_close(gradients[name], parameter.grad)


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("parts", [*permutations(range(3))])
def test_queries_keys_and_values_may_come_in_any_order(parts: tuple[int, ...], norm: str) -> None:
    weights, x = drawn(decoder=False), torch.randn(2, 5, D, dtype=torch.float64)
    for order in ("phf", "hpf"):
        right, other = EncoderLayer(D, 3, 20, norm=norm).double(), Encoder(order, 3, norm).double()
        other.attn.parts = parts
        right.load_state_dict(weights)
        fill_layer(other, weights)
        torch.testing.assert_close(other(x), right(x))


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("order", ORDERS)
def test_each_attention_of_a_decoder_layer_has_its_own_order(order: str, norm: str) -> None:
    weights = drawn(decoder=True)
    x, memory = (torch.randn(2, n, D, dtype=torch.float64) for n in (4, 6))
    right, other = DecoderLayer(D, 3, 20, norm=norm).double(), Decoder(order, 3, norm).double()
    other.attn.order = "hpf"
    right.load_state_dict(weights)
    fill_layer(other, weights)
    torch.testing.assert_close(other(x, memory), right(x, memory))


def test_the_weights_and_the_mode_of_the_layer_stay() -> None:
    layer = Encoder("hpf", 3, "pre").train()
    before = {name: value.clone() for name, value in layer.state_dict().items()}
    layer_spellings(layer)
    assert layer.training
    assert all(torch.equal(value, before[name]) for name, value in layer.state_dict().items())


@pytest.mark.parametrize("fails", [True, False])
def test_a_layer_that_no_order_explains_has_the_order_of_the_names(fails: bool) -> None:
    class Wrong(Encoder):
        def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
            if fails:
                raise RuntimeError("shapes do not fit")
            return super().forward(x, mask).flip(-1) ** 3

    found = layer_spellings(Wrong("hpf", 3, "pre"))
    assert found
    assert not any(isinstance(key, Reordered) for keys in found.values() for key in keys)


def test_the_usual_order_is_the_first_that_is_tried() -> None:
    found = layer_spellings(Encoder("phf", 3, "post"))
    rows = {key.rows for keys in found.values() for key in keys if isinstance(key, Reordered)}
    assert rows == {tuple(range(3 * D))}


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_layer_of_one_feature_causes_no_warning(
    norm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "D", 1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        layer_spellings(Encoder("hpf", 1, norm))
    assert not caught
