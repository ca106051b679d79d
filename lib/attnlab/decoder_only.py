"""GPT, built from the steps of the labs before: embeddings, pre-norm blocks, and a tied head.

:mod:`attnlab.gpt` is the same model in the form for use: its modules have the same names, so
weights can be loaded from one into the other, and it generates with a cache.

Source: Language Models are Unsupervised Multitask Learners (Radford et al. 2019), section 2.3;
lectures G, N.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own abbreviation

from attnlab.gpt import GPTConfig
from attnlab.initial_weights import init_normal
from attnlab.masks import causal_mask
from attnlab.multihead import MultiHeadAttention


class Block(nn.Module):
    """Causal self-attention, then a feed-forward network: one layer of a GPT.

    The parts have these names: `attention`, a `MultiHeadAttention(d_model, num_heads)`; `linear1`
    and `linear2`, two `nn.Linear` with bias, from d_model to 4 · d_model and back; `norm1` and
    `norm2`, an `nn.LayerNorm` before each of the two.

    Args:
        cfg: all numbers of the model; `d_model`, `num_heads` and `dropout` are used here. Dropout
            acts in training on attention weights and on what each of the two sublayers adds to the
            stream, and nowhere else.

    Source: Radford et al. 2019, section 2.3.
    """

    def __init__(self, cfg: GPTConfig) -> None:
        super().__init__()
        # blank: two norms, the attention, two linear layers, dropout
        self.norm1 = nn.LayerNorm(cfg.d_model)
        self.attention = MultiHeadAttention(cfg.d_model, cfg.num_heads, dropout=cfg.dropout)
        self.norm2 = nn.LayerNorm(cfg.d_model)
        self.linear1 = nn.Linear(cfg.d_model, 4 * cfg.d_model)
        self.linear2 = nn.Linear(4 * cfg.d_model, cfg.d_model)
        self.dropout = nn.Dropout(cfg.dropout)
        # end blank

    def forward(self, x: Tensor) -> Tensor:
        """Send vectors through the block.

        Each sublayer reads the normalised stream, and its output is added to the stream itself. No
        position attends to a later one. Between the linear layers is GELU in its tanh form, as in
        the published models: `F.gelu(…, approximate="tanh")`.

        Args:
            x: (B, T, d_model); stays unchanged.

        Returns:
            (B, T, d_model). Gradients flow back to `x` and to all parameters.
        """
        # blank: attend to the past, then the feed-forward network, each added to the stream
        read = self.norm1(x)  # (B, T, d_model)
        mask = causal_mask(x.shape[1], device=x.device)  # (T, T)
        x = x + self.dropout(self.attention(read, read, read, mask))
        hidden = F.gelu(self.linear1(self.norm2(x)), approximate="tanh")  # (B, T, 4 * d_model)
        return x + self.dropout(self.linear2(hidden))
        # end blank


class GPT(nn.Module):
    """A decoder without an encoder: it reads tokens, and scores every token as the next one.

    The parts have these names: `tokens` and `positions`, two `nn.Embedding` with cfg.vocab_size
    and cfg.context rows; `blocks`, an `nn.ModuleList` of cfg.num_layers `Block`s; `norm`, an
    `nn.LayerNorm` after the last block; and `head`, an `nn.Linear` from d_model to vocab_size
    without a bias. `head.weight` and `tokens.weight` are one parameter. `cfg` is kept as
    `self.cfg`.

    Args:
        cfg: all numbers of the model.

    Source: Radford et al. 2019, section 2.3; lectures G, N.
    """

    def __init__(self, cfg: GPTConfig) -> None:
        super().__init__()
        self.cfg = cfg
        # blank: two tables, dropout, the blocks, the last norm, the tied head
        self.tokens = nn.Embedding(cfg.vocab_size, cfg.d_model)
        self.positions = nn.Embedding(cfg.context, cfg.d_model)
        self.dropout = nn.Dropout(cfg.dropout)
        self.blocks = nn.ModuleList(Block(cfg) for _ in range(cfg.num_layers))
        self.norm = nn.LayerNorm(cfg.d_model)
        self.head = nn.Linear(cfg.d_model, cfg.vocab_size, bias=False)
        self.head.weight = self.tokens.weight
        # end blank

    def forward(self, ids: Tensor) -> Tensor:
        """Score every token as the next one, at each position.

        The stream starts as the vector of the token plus the vector of its position, counted from
        0; neither is scaled. (In training, dropout acts on this sum.) No position sees a later
        token.

        Args:
            ids: (B, T), int64, tokens; stays unchanged. T is cfg.context at most.

        Returns:
            (B, T, vocab_size), logits: entry [b, t] is about the token after ids[b, t]. Gradients
            flow back to all parameters on the way.

        Raises:
            ValueError: T is larger than cfg.context.
        """
        # blank: refuse what is too long, embed, go through the blocks, normalise, project
        T = ids.shape[1]  # noqa: N806 - the field's letter
        if self.cfg.context < T:
            raise ValueError(f"{T} tokens, but the model reads only {self.cfg.context}")
        x = self.tokens(ids) + self.positions.weight[:T]  # (B, T, d_model)
        x = self.dropout(x)
        for block in self.blocks:
            x = block(x)
        logits: Tensor = self.head(self.norm(x))  # (B, T, vocab_size)
        return logits
        # end blank


def init_gpt(model: nn.Module, *, generator: torch.Generator | None = None) -> None:
    """Draw all weights of a GPT anew, in place, as GPT-2 does.

    - The weights of all `nn.Linear` and `nn.Embedding` come from a normal distribution with mean 0
      and standard deviation 0.02; biases of `nn.Linear` are 0.
    - The last layer of each residual branch, `attention.out_proj` and `linear2` of a block, has the
      smaller deviation 0.02 / √(2 L), L = model.cfg.num_layers: the stream adds up 2 L branches.
    - Weights of `nn.LayerNorm` are 1, and their biases 0.

    All parameters stay the same objects, so a tied head stays tied.

    Args:
        model: a `GPT`, whose parts have the names of the task, with its numbers in `model.cfg`.
        generator: the only source of randomness if it is given; else torch's own generator is.

    Source: Radford et al. 2019, section 2.3, and its published code.
    """
    # blank: all weights, then the last layers of the branches again
    init_normal(model, generator=generator)
    std = 0.02 / math.sqrt(2 * cast("GPTConfig", model.cfg).num_layers)
    for block in cast("Iterable[Block]", model.blocks):
        for last in (block.attention.out_proj, block.linear2):
            nn.init.normal_(last.weight, std=std, generator=generator)
    # end blank


def count_gpt_params(cfg: GPTConfig) -> int:
    """The number of parameters of `GPT(cfg)`, by a formula: nothing is built.

    Head and token table are one parameter and count once. Positions are learned, so they count.

    Args:
        cfg: the numbers of the model.

    Returns:
        A Python int.
    """
    # blank: the blocks, the tables, the last norm
    d = cfg.d_model
    block = 12 * d * d + 13 * d
    return cfg.num_layers * block + (cfg.vocab_size + cfg.context) * d + 2 * d
    # end blank
