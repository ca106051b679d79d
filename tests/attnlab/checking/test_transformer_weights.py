"""Weights go into a Transformer and come out of it under the task's names, whatever its own are."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from attnlab.attention import scaled_dot_product_attention
from attnlab.checking.transformer_weights import outer_spellings, sides_of, transformer_names
from attnlab.checking.weights import MissingWeightError
from attnlab.encoder_decoder import Transformer
from attnlab.layers import LayerNorm
from attnlab.multihead import MultiHeadAttention, merge_heads
from attnlab.positions import PositionalEncoding
from attnlab.transformer_config import TransformerConfig

CFG = TransformerConfig(17, 13, 12, 3, 20, 2, 2, dropout=0.0, max_len=10)


class Packed(nn.Module):
    """Self-attention with one matrix, cut head by head."""

    def __init__(self, d: int, heads: int) -> None:
        super().__init__()
        self.heads, self.qkv_proj, self.o_proj = heads, nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        q, k, v = self.qkv_proj(x).unflatten(-1, (self.heads, -1)).transpose(1, 2).chunk(3, -1)
        return self.o_proj(merge_heads(scaled_dot_product_attention(q, k, v, mask)[0]))


class EncoderLayer(nn.Module):
    def __init__(self, d: int, heads: int, d_ff: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.attn, self.fc1, self.fc2 = Packed(d, heads), nn.Linear(d, d_ff), nn.Linear(d_ff, d)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        x = x + self.attn(self.norm1(x), mask)
        return x + self.fc2(self.fc1(self.norm2(x)).relu())


class DecoderLayer(nn.Module):
    def __init__(self, d: int, heads: int, d_ff: int) -> None:
        super().__init__()
        self.self_attn, self.src_attn = MultiHeadAttention(d, heads), MultiHeadAttention(d, heads)
        self.ln1, self.ln2, self.ln3 = LayerNorm(d), LayerNorm(d), LayerNorm(d)
        self.w_1, self.w_2 = nn.Linear(d, d_ff), nn.Linear(d_ff, d)

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        *,
        target_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
    ) -> Tensor:
        y = self.ln1(x)
        x = x + self.self_attn(y, y, y, target_mask)
        x = x + self.src_attn(self.ln2(x), memory, memory, memory_mask)
        return x + self.w_2(self.w_1(self.ln3(x)).relu())


class Other(nn.Module):
    """A right model in which nothing has the task's name."""

    def __init__(self, cfg: TransformerConfig) -> None:
        super().__init__()
        d = cfg.d_model
        sizes = d, cfg.num_heads, cfg.d_ff
        self.src_embed = nn.Embedding(cfg.source_vocab, d)
        self.tgt_embed = nn.Embedding(cfg.target_vocab, d)
        self.pe = PositionalEncoding(d, cfg.max_len)
        self.enc_layers = nn.ModuleList(EncoderLayer(*sizes) for _ in range(cfg.num_encoder_layers))
        self.dec_layers = nn.ModuleList(DecoderLayer(*sizes) for _ in range(cfg.num_decoder_layers))
        self.ln_enc, self.ln_dec = LayerNorm(d), LayerNorm(d)
        self.generator = nn.Linear(d, cfg.target_vocab, bias=False)
        if cfg.tie != "none":
            self.generator.weight = self.tgt_embed.weight
        if cfg.tie == "all":
            self.src_embed.weight = self.tgt_embed.weight

    def forward(self, source: Tensor, valid: Tensor, target: Tensor) -> Tensor:
        x, y = (
            self.pe(table(ids) * table.embedding_dim**0.5)
            for table, ids in ((self.src_embed, source), (self.tgt_embed, target))
        )
        for layer in self.enc_layers:
            x = layer(x, valid[:, None, None])
        causal = torch.ones(2 * target.shape[1:]).tril().bool()
        for layer in self.dec_layers:
            y = layer(y, self.ln_enc(x), target_mask=causal, memory_mask=valid[:, None, None])
        return self.generator(self.ln_dec(y))


def configs() -> list[TransformerConfig]:
    same = replace(CFG, target_vocab=17)
    return [CFG, replace(CFG, tie="none"), replace(same, tie="all"), replace(same, tie="none")]


def batch() -> tuple[Tensor, Tensor, Tensor]:
    source, target = torch.randint(1, 13, (3, 6)), torch.randint(1, 13, (3, 5))
    return source, torch.arange(6) < torch.tensor([[6], [4], [5]]), target


@pytest.mark.parametrize("cfg", configs(), ids=lambda cfg: f"{cfg.target_vocab} {cfg.tie}")
def test_a_model_with_other_names_gets_weights_and_gives_them_back(cfg: TransformerConfig) -> None:
    right, other = Transformer(cfg).eval(), Other(cfg).eval()
    names = transformer_names(cfg)
    names.give(other, right.state_dict())
    inputs = batch()
    torch.testing.assert_close(other(*inputs), right(*inputs))
    state = names.read(other)
    assert not state.keys() & other.state_dict().keys()
    again = Transformer(cfg).eval()
    names.give(again, state)
    torch.testing.assert_close(again(*inputs), right(*inputs))


def test_a_model_with_the_tasks_names_keeps_its_state() -> None:
    model = Transformer(CFG)
    assert transformer_names(CFG).read(model).keys() == model.state_dict().keys()


def test_a_model_that_lacks_a_weight_keeps_its_names_and_takes_no_others() -> None:
    class Shorter(Other):
        def __init__(self, cfg: TransformerConfig) -> None:
            super().__init__(cfg)
            del self.dec_layers[1]

    model = Shorter(CFG)
    assert transformer_names(CFG).read(model).keys() == model.state_dict().keys()
    with pytest.raises(MissingWeightError, match=r"decoder\.1\."):
        transformer_names(CFG).give(model, Transformer(CFG).state_dict())


def test_a_broken_tie_is_seen_in_the_state() -> None:
    model = Other(replace(CFG, tie="none"))
    state = transformer_names(CFG).read(model)
    assert torch.equal(state["head.weight"], model.generator.weight)
    assert torch.equal(state["target_embedding.weight"], model.tgt_embed.weight)


def test_layers_and_the_parts_outside_them_are_found_by_class_and_kind() -> None:
    model = Other(CFG)
    layers = sides_of(model)
    assert layers == [[*model.enc_layers], [*model.dec_layers]]
    outer = outer_spellings(model, CFG, layers)
    assert outer["source_embedding.weight"] == ["src_embed.weight"]
    assert outer["decoder_norm.bias"] == ["ln_dec.bias"]


def test_two_norms_whose_names_say_nothing_are_taken_in_their_order() -> None:
    model = Other(CFG)
    del model.ln_enc, model.ln_dec
    model.norm_a, model.norm_b = LayerNorm(12), LayerNorm(12)
    outer = outer_spellings(model, CFG, sides_of(model))
    assert outer["encoder_norm.weight"] == ["norm_a.weight"]
    assert outer["decoder_norm.weight"] == ["norm_b.weight"]
