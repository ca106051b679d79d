"""The encoder–decoder Transformer, built from the steps of the labs before.

:mod:`attnlab.transformer` is the same model in the form for use: its modules have the same names,
so weights can be loaded from one into the other, and it decodes with a cache.

Source: Attention Is All You Need (Vaswani et al. 2017), section 3; lectures W, S, G, N, C.
"""

from __future__ import annotations

import math
from typing import Literal

from torch import Tensor, nn

from attnlab.layers import FeedForward, LayerNorm, Residual
from attnlab.masks import causal_mask
from attnlab.multihead import MultiHeadAttention
from attnlab.positions import PositionalEncoding
from attnlab.transformer_config import TransformerConfig


class EncoderLayer(nn.Module):
    """Self-attention, then the feed-forward network, each inside a residual of its own.

    The parts have these names: `self_attention`, a `MultiHeadAttention(d_model, num_heads)`;
    `feed_forward`, a `FeedForward(d_model, d_ff)`; and `residual1` and `residual2`, a
    `Residual(d_model)` around the first and around the second. Other usual names are accepted, and
    so is a layer with two `LayerNorm` and sums of its own instead of `Residual`, but not a layer
    that contains torch's `nn.TransformerEncoderLayer`.

    Args:
        d_model: features of a vector.
        num_heads: heads of the attention.
        d_ff: features inside the feed-forward network.
        dropout: the probability of dropping in training, in all four parts and nowhere else:
            attention weights, features inside the network, and what each residual adds.
        norm: "pre" or "post", the mode of both residuals.

    Source: Attention Is All You Need, section 3.1.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float = 0.0,
        norm: Literal["pre", "post"] = "pre",
    ) -> None:
        super().__init__()
        # blank: the four parts
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout)
        self.residual1 = Residual(d_model, dropout, norm)
        self.residual2 = Residual(d_model, dropout, norm)
        # end blank

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Send a batch through the layer.

        Args:
            x: (B, S, d_model); stays unchanged.
            mask: boolean, True where a position may attend to another; it broadcasts to
                (B, h, S, S), such as (B, 1, 1, S). None: all may attend to all.

        Returns:
            (B, S, d_model). Gradients flow back to `x` and to all parameters.
        """

        # blank: attend to itself, then the feed-forward network, each through its residual
        def attend(x: Tensor) -> Tensor:
            return self.self_attention(x, x, x, mask)

        x = self.residual1(x, attend)
        return self.residual2(x, self.feed_forward)
        # end blank


class DecoderLayer(nn.Module):
    """Self-attention, attention to the encoder's output, then the feed-forward network.

    Each is inside a residual of its own, in this order. The parts have these names:
    `self_attention` and `cross_attention`, two `MultiHeadAttention(d_model, num_heads)`;
    `feed_forward`, a `FeedForward(d_model, d_ff)`; and `residual1`, `residual2` and `residual3`,
    three `Residual(d_model)`. Other usual names are accepted, and so is a layer with three
    `LayerNorm` and sums of its own instead of `Residual`, but not a layer that contains torch's
    `nn.TransformerDecoderLayer`.

    Args:
        d_model: features of a vector, of the encoder's output, too.
        num_heads: heads of each attention.
        d_ff: features inside the feed-forward network.
        dropout: the probability of dropping in training, in all six parts and nowhere else:
            weights of both attentions, features inside the network, and what each residual adds.
        norm: "pre" or "post", the mode of the residuals.

    Source: Attention Is All You Need, section 3.1.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float = 0.0,
        norm: Literal["pre", "post"] = "pre",
    ) -> None:
        super().__init__()
        # blank: the six parts
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout)
        self.residual1 = Residual(d_model, dropout, norm)
        self.residual2 = Residual(d_model, dropout, norm)
        self.residual3 = Residual(d_model, dropout, norm)
        # end blank

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        *,
        target_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
    ) -> Tensor:
        """Send a batch of targets through the layer.

        In the attention to the encoder's output, the queries come from the target; keys and values
        come from `memory`, which is used as it is (the encoder has normalised it).

        Args:
            x: (B, T, d_model), the target; stays unchanged.
            memory: (B, S, d_model), the encoder's output; stays unchanged. S may differ from T.
            target_mask: boolean, True where a target position may attend to a target position; it
                broadcasts to (B, h, T, T), such as (T, T). None: all may attend to all.
            memory_mask: boolean, True where a target position may attend to a source position; it
                broadcasts to (B, h, T, S), such as (B, 1, 1, S). None: all may attend to all.

        Returns:
            (B, T, d_model). Gradients flow back to `x`, `memory` and all parameters.
        """

        # blank: attend to itself, attend to the memory, then the feed-forward network
        def attend(x: Tensor) -> Tensor:
            return self.self_attention(x, x, x, target_mask)

        def look(x: Tensor) -> Tensor:
            return self.cross_attention(x, memory, memory, memory_mask)

        x = self.residual1(x, attend)
        x = self.residual2(x, look)
        return self.residual3(x, self.feed_forward)
        # end blank


class Transformer(nn.Module):
    """An encoder that reads the source once, and a decoder that writes the target from it.

    The parts have these names: `source_embedding` and `target_embedding` (`nn.Embedding`);
    `position`, a `PositionalEncoding` for both sides; `encoder` and `decoder`, an `nn.ModuleList`
    of `EncoderLayer`s and one of `DecoderLayer`s; `encoder_norm` and `decoder_norm`, a `LayerNorm`
    after each stack if cfg.norm is "pre", else `nn.Identity()`; and `head`, an `nn.Linear` from
    d_model to target_vocab, without a bias.

    - Layers and positions take their sizes, `dropout`, `norm` and `max_len` from cfg.
    - A vector of an embedding is multiplied by √d_model before its position is added. (The logits
      are not scaled.)
    - Each layer has parameters of its own, drawn independently. No row of a table is fixed at 0.
    - With cfg.tie "output", `head.weight` and `target_embedding.weight` are one parameter; with
      "all", `source_embedding.weight` is this parameter, too; with "none", they are three.

    Args:
        cfg: all numbers of the model.

    Source: Attention Is All You Need, sections 3.1 and 3.4.
    """

    def __init__(self, cfg: TransformerConfig) -> None:
        super().__init__()
        self.cfg = cfg
        # blank: embeddings and positions, two stacks of layers, the norms after them, the head
        sizes = (cfg.d_model, cfg.num_heads, cfg.d_ff, cfg.dropout, cfg.norm)
        self.source_embedding = nn.Embedding(cfg.source_vocab, cfg.d_model)
        self.target_embedding = nn.Embedding(cfg.target_vocab, cfg.d_model)
        self.position = PositionalEncoding(cfg.d_model, cfg.max_len, cfg.dropout)
        self.encoder = nn.ModuleList(EncoderLayer(*sizes) for _ in range(cfg.num_encoder_layers))
        self.decoder = nn.ModuleList(DecoderLayer(*sizes) for _ in range(cfg.num_decoder_layers))
        after = LayerNorm if cfg.norm == "pre" else nn.Identity
        self.encoder_norm = after(cfg.d_model)
        self.decoder_norm = after(cfg.d_model)
        self.head = nn.Linear(cfg.d_model, cfg.target_vocab, bias=False)
        if cfg.tie != "none":
            self.head.weight = self.target_embedding.weight
        if cfg.tie == "all":
            self.source_embedding.weight = self.target_embedding.weight
        # end blank

    def encode(self, source: Tensor, source_valid: Tensor) -> Tensor:
        """Read the source.

        Args:
            source: (B, S), int64; stays unchanged.
            source_valid: (B, S), boolean, True where there is a symbol; no position attends to the
                others.

        Returns:
            (B, S, d_model), the memory that every layer of the decoder looks at: the output of the
            last encoder layer, after `encoder_norm`. Gradients flow back to all parameters on the
            way.
        """
        # blank: embed, add positions, go through the layers, normalise
        x = self.source_embedding(source) * math.sqrt(self.cfg.d_model)  # (B, S, d_model)
        x = self.position(x)
        for layer in self.encoder:
            x = layer(x, source_valid[:, None, None, :])
        return self.encoder_norm(x)
        # end blank

    def decode(self, target: Tensor, memory: Tensor, source_valid: Tensor) -> Tensor:
        """Say for each target position which symbol comes next.

        No position sees a later symbol of the target, and none looks at a source position without
        a symbol.

        Args:
            target: (B, T), int64, the symbols so far; stays unchanged. (Positions after the end of
                a row hold any symbol; what they return is not used.)
            memory: (B, S, d_model), from `encode`.
            source_valid: (B, S), boolean, as for `encode`.

        Returns:
            (B, T, target_vocab), logits: numbers before softmax. Gradients flow back to `memory`
            and to all parameters on the way.
        """
        # blank: embed, add positions, go through the layers, normalise, project
        x = self.target_embedding(target) * math.sqrt(self.cfg.d_model)  # (B, T, d_model)
        x = self.position(x)
        target_mask = causal_mask(target.shape[1], device=target.device)  # (T, T)
        memory_mask = source_valid[:, None, None, :]  # (B, 1, 1, S)
        for layer in self.decoder:
            x = layer(x, memory, target_mask=target_mask, memory_mask=memory_mask)
        return self.head(self.decoder_norm(x))  # (B, T, target_vocab)
        # end blank

    def forward(self, source: Tensor, source_valid: Tensor, target: Tensor) -> Tensor:
        """Encode, then decode; returns the logits, (B, T, target_vocab)."""
        # blank: both, one after the other
        return self.decode(target, self.encode(source, source_valid), source_valid)
        # end blank


def init_weights(model: nn.Module) -> None:
    """Draw the weights of a Transformer anew, in place, for the start of its training.

    - The weight of each `nn.Linear`: Xavier, uniform. Its bias, if it has one: 0.
    - The table of each `nn.Embedding`: normal with mean 0 and standard deviation 1/√d_model, so a
      row has a length of about 1.
    - The weight of `model.head`, if it is not one of these tables: normal with mean 0 and standard
      deviation 0.02, so all symbols begin about equally likely.

    Nothing else changes. All parameters stay the same objects, so tied tables stay tied. The random
    numbers come from torch's own generator.

    Args:
        model: a `Transformer`, or another module with a `head`.

    Source: Understanding the difficulty of training deep feedforward neural networks (Glorot,
    Bengio 2010); the paper's code.
    """
    tables = [module.weight for module in model.modules() if isinstance(module, nn.Embedding)]
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
    for table in tables:
        nn.init.normal_(table, std=table.shape[1] ** -0.5)
    head = model.get_submodule("head").get_parameter("weight")
    if all(head is not table for table in tables):
        nn.init.normal_(head, std=0.02)
