"""A layer's weights are found under other names, and torch's layers with them give the same."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import torch
from torch import Tensor, nn

from attnlab.attention import scaled_dot_product_attention
from attnlab.checking.layer_weights import (
    fill_layer,
    layer_shapes,
    layer_spellings,
    torch_layer,
)
from attnlab.checking.weights import MissingWeightError, give_weights
from attnlab.encoder_decoder import DecoderLayer, EncoderLayer
from attnlab.layers import FeedForward, LayerNorm
from attnlab.multihead import MultiHeadAttention

VALID = torch.arange(6) < torch.tensor([[6], [4]])
CAUSAL = torch.ones(5, 5).tril().bool()


def drawn(decoder: bool) -> dict[str, Tensor]:
    random = torch.Generator().manual_seed(3)
    shapes = layer_shapes(12, 20, decoder=decoder).items()
    return {
        name: torch.randn(shape, generator=random, dtype=torch.float64) / 2
        for name, shape in shapes
    }


def texts() -> tuple[Tensor, Tensor]:
    random = torch.Generator().manual_seed(4)
    x, memory = (torch.randn(2, n, 12, generator=random, dtype=torch.float64) for n in (5, 6))
    return x, memory


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_labs_layers_equal_torchs(norm: str) -> None:
    x, memory = texts()
    encoder, decoder = (
        kind(12, 3, 20, norm=norm).double().eval() for kind in (EncoderLayer, DecoderLayer)
    )
    encoder.load_state_dict(drawn(decoder=False))
    decoder.load_state_dict(drawn(decoder=True))
    torchs = torch_layer(drawn(decoder=False), 3, norm)
    mask = VALID[:, None, None]
    torch.testing.assert_close(encoder(memory), torchs(memory))
    expected = torchs(memory, src_key_padding_mask=~VALID)
    torch.testing.assert_close(encoder(memory, mask)[VALID], expected[VALID])
    torchs = torch_layer(drawn(decoder=True), 3, norm)
    torch.testing.assert_close(decoder(x, memory), torchs(x, memory))
    torch.testing.assert_close(
        decoder(x, memory, target_mask=CAUSAL, memory_mask=mask),
        torchs(x, memory, tgt_mask=~CAUSAL, memory_key_padding_mask=~VALID),
    )


def test_a_layer_with_the_tasks_names_needs_no_others() -> None:
    assert layer_spellings(EncoderLayer(12, 3, 20)) == {}
    assert layer_spellings(DecoderLayer(12, 3, 20), decoder=True) == {}


def named(parts: Mapping[str, nn.Module]) -> nn.Module:
    """A module whose parts have these names; a dot leads to a part of a part."""
    whole = nn.Module()
    for name, part in parts.items():
        *path, last = name.split(".")
        inner = whole
        for word in path:
            if not hasattr(inner, word):
                setattr(inner, word, nn.Module())
            inner = getattr(inner, word)
        setattr(inner, last, part)
    return whole


def attention() -> nn.Module:
    return MultiHeadAttention(12, 3)


def torchs_attention() -> nn.Module:
    return nn.MultiheadAttention(12, 3, batch_first=True)


DECODERS = {
    "torch": {
        "self_attn": torchs_attention(), "multihead_attn": torchs_attention(),
        "linear1": nn.Linear(12, 20), "linear2": nn.Linear(20, 12),
        **{f"norm{i}": nn.LayerNorm(12) for i in (1, 2, 3)},
    },
    "numbered from 0, in a list": {
        "self_attn": attention(), "src_attn": attention(),
        "feed_forward.w_1": nn.Linear(12, 20), "feed_forward.w_2": nn.Linear(20, 12),
        **{f"sublayer.{i}.norm": LayerNorm(12) for i in (0, 1, 2)},
    },
    "numbered from 1, in a module": {
        "attention1": attention(), "attention2": attention(), "ffn.dense1": nn.Linear(12, 20),
        "ffn.dense2": nn.Linear(20, 12), **{f"addnorm{i}.ln": nn.LayerNorm(12) for i in (1, 2, 3)},
    },
    "called after their parts": {
        "self_attn": attention(), "encoder_attn": attention(), "fc1": nn.Linear(12, 20),
        "fc2": nn.Linear(20, 12), "self_attn_layer_norm": nn.LayerNorm(12),
        "encoder_attn_layer_norm": nn.LayerNorm(12), "final_layer_norm": nn.LayerNorm(12),
    },
    "a sequence": {
        "mha1": attention(), "mha2": attention(),
        "mlp": nn.Sequential(nn.Linear(12, 20), nn.ReLU(), nn.Dropout(0), nn.Linear(20, 12)),
        **{f"ln_{i}": nn.LayerNorm(12) for i in (0, 1, 2)},
    },
}  # fmt: skip


@pytest.mark.parametrize("name", DECODERS)
def test_other_usual_names_are_found_and_no_weight_is_left_out(name: str) -> None:
    layer = named(DECODERS[name]).double()
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.fill_(torch.nan)
    weights = drawn(decoder=True)
    give_weights(layer, weights, layer_spellings(layer, decoder=True))
    assert not any(parameter.isnan().any() for parameter in layer.parameters())
    state = dict(layer.named_parameters())
    third = [key for key in state if "3" in key or "final" in key or key.endswith(".2.norm.weight")]
    third += [key for key in state if key.startswith("ln_2")]
    assert any(torch.equal(state[key], weights["residual3.norm.weight"]) for key in third)


def test_the_only_attention_of_an_encoder_layer_may_have_a_name_of_the_second() -> None:
    parts = {
        "multihead_attn": attention(), "mlp": FeedForward(12, 20),
        "norm1": LayerNorm(12), "norm2": LayerNorm(12),
    }  # fmt: skip
    layer, weights = named(parts).double(), drawn(decoder=False)
    give_weights(layer, weights, layer_spellings(layer))
    found = layer.get_parameter("multihead_attn.k_proj.weight")
    assert torch.equal(found, weights["self_attention.k_proj.weight"])


class HeadsFirst(nn.Module):
    """Self-attention with raw parameters that have an axis for the heads."""

    def __init__(self, heads: int) -> None:
        super().__init__()
        d = 12 // heads
        self.W_Q, self.W_K, self.W_V = (nn.Parameter(torch.empty(heads, 12, d)) for _ in range(3))
        self.b_Q, self.b_K, self.b_V = (nn.Parameter(torch.empty(heads, d)) for _ in range(3))
        self.W_O, self.b_O = nn.Parameter(torch.empty(heads, d, 12)), nn.Parameter(torch.empty(12))

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (
            torch.einsum("btm,hmd->bhtd", x, weight) + bias[:, None]
            for weight, bias in (
                (self.W_Q, self.b_Q), (self.W_K, self.b_K), (self.W_V, self.b_V),
            )
        )  # fmt: skip
        out, _ = scaled_dot_product_attention(q, k, v)
        return torch.einsum("bhtd,hdm->btm", out, self.W_O) + self.b_O


@pytest.mark.parametrize("heads", [1, 3, 4, 12])
def test_an_attention_with_an_axis_for_the_heads_is_found_in_a_layer(heads: int) -> None:
    class Encoder(EncoderLayer):
        def forward(self, x: Tensor) -> Tensor:
            x = self.residual1(x, self.attn)
            return self.residual2(x, self.feed_forward)

    x, _ = texts()
    right, other = EncoderLayer(12, heads, 20).double(), Encoder(12, heads, 20)
    del other.self_attention
    other.attn = HeadsFirst(heads)
    right.load_state_dict(drawn(decoder=False))
    fill_layer(other.double(), drawn(decoder=False))
    torch.testing.assert_close(other(x), right(x))


def test_a_part_that_serves_twice_is_counted_and_one_with_another_name_is_named() -> None:
    parts = {"attn": attention(), "mlp": FeedForward(12, 20), "norm1": LayerNorm(12)}
    with pytest.raises(MissingWeightError, match=r"has 1160 numbers .* its parts need 1184"):
        fill_layer(named(parts).double(), drawn(decoder=False))
    parts |= {"another": LayerNorm(12), "a_third": LayerNorm(12)}
    with pytest.raises(MissingWeightError, match=r"residual2\.norm\.weight"):
        fill_layer(named(parts).double(), drawn(decoder=False))


ENCODERS = {
    "inside a module for each sum": {
        "attention.self.query": nn.Linear(12, 12), "attention.self.key": nn.Linear(12, 12),
        "attention.self.value": nn.Linear(12, 12), "attention.output.dense": nn.Linear(12, 12),
        "attention.output.LayerNorm": nn.LayerNorm(12), "intermediate.dense": nn.Linear(12, 20),
        "output.dense": nn.Linear(20, 12), "output.LayerNorm": nn.LayerNorm(12),
    },
    "everything in the layer itself": {
        "qkv": nn.Linear(12, 36), "proj": nn.Linear(12, 12), "ln1": nn.LayerNorm(12),
        "mlp": nn.Sequential(nn.Linear(12, 20), nn.GELU(), nn.Linear(20, 12)),
        "ln2": nn.LayerNorm(12),
    },
    "normalisations without usual names": {
        "W_Q": nn.Linear(12, 12), "W_K": nn.Linear(12, 12), "W_V": nn.Linear(12, 12),
        "W_O": nn.Linear(12, 12), "feed_forward.w_1": nn.Linear(12, 20),
        "feed_forward.w_2": nn.Linear(20, 12), "input_sublayer.norm": nn.LayerNorm(12),
        "output_sublayer.norm": nn.LayerNorm(12),
    },
}  # fmt: skip


@pytest.mark.parametrize("name", ENCODERS)
def test_the_parts_of_an_encoder_layer_may_be_anywhere_in_it(name: str) -> None:
    layer, weights = named(ENCODERS[name]).double(), drawn(decoder=False)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.fill_(torch.nan)
    give_weights(layer, weights, layer_spellings(layer))
    assert not any(parameter.isnan().any() for parameter in layer.parameters())
    state = dict(layer.named_parameters())
    norms = [value for key, value in state.items() if key.endswith(".weight") and value.ndim == 1]
    assert torch.equal(norms[0], weights["residual1.norm.weight"])
    assert torch.equal(norms[1], weights["residual2.norm.weight"])


def test_a_parameter_that_no_part_needs_becomes_zero() -> None:
    layer = EncoderLayer(12, 3, 20).double()
    layer.extra = nn.Linear(2, 2)
    weights = drawn(decoder=False)
    fill_layer(layer, weights)
    assert not any(parameter.any() for parameter in layer.extra.parameters())
    assert all(torch.equal(layer.get_parameter(name), value) for name, value in weights.items())


@pytest.mark.parametrize("d_ff", [12, 20])
def test_a_projection_of_the_layer_itself_is_not_the_networks(d_ff: int) -> None:
    """`c_proj` is a usual name of both, and their biases have the same shape."""

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attn_norm, self.ff_norm = nn.LayerNorm(12), nn.LayerNorm(12)
            self.c_attn, self.c_proj = nn.Linear(12, 36), nn.Linear(12, 12)
            self.ff = nn.Sequential(nn.Linear(12, d_ff), nn.GELU(), nn.Linear(d_ff, 12))

        def forward(self, x: Tensor) -> Tensor:
            q, k, v = self.c_attn(self.attn_norm(x)).chunk(3, -1)
            x = x + self.c_proj((q @ k.mT).softmax(-1) @ v)
            out: Tensor = x + self.ff(self.ff_norm(x))
            return out

    block = Block()
    weights = {name: torch.randn(shape) for name, shape in layer_shapes(12, d_ff).items()}
    fill_layer(block, weights)
    assert torch.equal(block.c_proj.bias, weights["self_attention.out_proj.bias"])
    assert torch.equal(block.ff[2].bias, weights["feed_forward.linear2.bias"])
    assert torch.equal(block.ff[2].weight, weights["feed_forward.linear2.weight"])
