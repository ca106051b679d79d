"""GPT: a decoder without an encoder, which predicts the next token.

    cfg = GPTConfig(vocab_size=768, context=64, d_model=96, num_heads=4, num_layers=2)
    model = GPT(cfg)
    init_gpt(model)
    logits, state = model(ids)           # (B, T, V)
    logits, state = model(more, state)   # the state holds the keys and values of the tokens so far

Source: Language Models are Unsupervised Multitask Learners (Radford et al. 2019), section 2.3;
lectures G, N.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own abbreviation

from attnlab.cached_attention import Attention, KVCache
from attnlab.initial_weights import init_normal
from attnlab.masks import causal_mask

SIZES: dict[str, dict[str, int]] = {  # the four models of the paper's table 2
    "gpt2": {"num_layers": 12, "d_model": 768, "num_heads": 12},
    "gpt2-medium": {"num_layers": 24, "d_model": 1024, "num_heads": 16},
    "gpt2-large": {"num_layers": 36, "d_model": 1280, "num_heads": 20},
    "gpt2-xl": {"num_layers": 48, "d_model": 1600, "num_heads": 25},
}


@dataclass(frozen=True)
class GPTConfig:
    """All numbers of a model.

    Attributes:
        vocab_size: V, the number of tokens.
        context: the most tokens that the model can read at once.
        d_model: features of each vector of the stream; the feed-forward network has 4 times more.
        num_heads: heads of each attention; it divides d_model.
        num_layers: L.
        dropout: the probability of dropping, everywhere.
    """

    vocab_size: int
    context: int = 1024
    d_model: int = 768
    num_heads: int = 12
    num_layers: int = 12
    dropout: float = 0.0

    @classmethod
    def of_size(cls, name: str, vocab_size: int = 50_257, **others: Any) -> GPTConfig:
        """One of the paper's four models.

        Raises:
            ValueError: there is no such size.
        """
        if name not in SIZES:
            known = ", ".join(SIZES)
            raise ValueError(f"the sizes are {known}, not {name!r}")
        return cls(vocab_size, **{**SIZES[name], **others})


@dataclass(frozen=True, eq=False)
class GPTState:
    """What the model keeps of the tokens so far. It is a value: no call changes it.

    Attributes:
        layers: the keys and values of each layer.
        valid: (B, L), boolean, False where a short prompt was filled up; None if nothing was.
    """

    layers: tuple[KVCache, ...]
    valid: Tensor | None = None

    @property
    def length(self) -> int:
        """L, the number of tokens so far, those included that fill up a prompt."""
        return self.layers[0].length

    def select(self, rows: Tensor) -> GPTState:
        """The rows of the batch that `rows` names, int64 (N,)."""
        valid = None if self.valid is None else self.valid[rows]
        return GPTState(tuple(layer.select(rows) for layer in self.layers), valid)


class GPTOutput(NamedTuple):
    """What the model returns.

    Attributes:
        logits: (B, T, V), for the token after each one; (B, 1, V) with `last_only`.
        state: for the next call.
    """

    logits: Tensor
    state: GPTState


class Block(nn.Module):
    """Causal self-attention, then the feed-forward network; each normalised before, with residual.

    The GELU is the tanh form, as in the published models.
    """

    def __init__(self, cfg: GPTConfig) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(cfg.d_model)
        self.attention = Attention(cfg.d_model, cfg.num_heads, cfg.dropout)
        self.norm2 = nn.LayerNorm(cfg.d_model)
        self.linear1 = nn.Linear(cfg.d_model, 4 * cfg.d_model)
        self.linear2 = nn.Linear(4 * cfg.d_model, cfg.d_model)
        self.dropout = nn.Dropout(cfg.dropout)

    def forward(
        self, x: Tensor, cache: KVCache | None = None, mask: Tensor | None = None
    ) -> tuple[Tensor, KVCache]:
        """Send vectors through the block.

        Args:
            x: (B, T, d_model), for the T newest tokens.
            cache: keys and values of the tokens before them; None if there are none.
            mask: boolean, (B, 1, T, L) with L tokens in all; None: each attends to itself and all
                before it. Only a first call (without a cache) or a single new token may leave it
                out.

        Returns:
            (B, T, d_model), and the keys and values of all tokens.
        """
        read = self.norm1(x)
        kv = self.attention.keys_values(read)
        if cache is not None:
            kv = cache.append(kv)
        is_causal = mask is None and cache is None
        x = x + self.dropout(self.attention(read, kv, mask, is_causal=is_causal).out)
        hidden = F.gelu(self.linear1(self.norm2(x)), approximate="tanh")  # (B, T, 4 d_model)
        return x + self.dropout(self.linear2(hidden)), kv


class GPT(nn.Module):
    """Token and position tables, blocks, a last normalisation, and a head tied to the token table.

    Args:
        cfg: all numbers of the model.
    """

    def __init__(self, cfg: GPTConfig) -> None:
        super().__init__()
        self.cfg = cfg
        self.tokens = nn.Embedding(cfg.vocab_size, cfg.d_model)
        self.positions = nn.Embedding(cfg.context, cfg.d_model)
        self.dropout = nn.Dropout(cfg.dropout)
        self.blocks = nn.ModuleList(Block(cfg) for _ in range(cfg.num_layers))
        self.norm = nn.LayerNorm(cfg.d_model)
        self.head = nn.Linear(cfg.d_model, cfg.vocab_size, bias=False)
        self.head.weight = self.tokens.weight

    def forward(
        self,
        ids: Tensor,
        state: GPTState | None = None,
        *,
        valid: Tensor | None = None,
        last_only: bool = False,
    ) -> GPTOutput:
        """Read tokens, and score every token as the next one.

        Args:
            ids: (B, T), int64.
            state: from the call before, if these tokens continue others. It stays as it is, so it
                can be continued more than once.
            valid: (B, T), boolean, False where `ids` fills up a short row. Nobody attends to
                these places, and positions count the valid tokens only.
            last_only: compute logits for the last token alone.

        Raises:
            ValueError: more tokens than `cfg.context`.
        """
        done = 0 if state is None else state.length
        total = done + ids.shape[1]
        if total > self.cfg.context:
            raise ValueError(f"{total} tokens, but the model reads only {self.cfg.context}")
        valid = _all_valid(state, valid, ids)
        x = self.tokens(ids) + self.positions(self._places(ids, done, valid))  # (B, T, d_model)
        x = self.dropout(x)
        mask = _mask(ids.shape[1], total, valid, ids.device)
        caches: Sequence[KVCache | None] = (
            [None] * len(self.blocks) if state is None else state.layers
        )
        layers = []
        for block, cache in zip(self.blocks, caches, strict=True):
            x, kv = block(x, cache, mask)
            layers.append(kv)
        x = x[:, -1:] if last_only else x
        return GPTOutput(self.head(self.norm(x)), GPTState(tuple(layers), valid))

    def _places(self, ids: Tensor, done: int, valid: Tensor | None) -> Tensor:
        """The position of each new token: (T,), or (B, T) where rows were filled up."""
        if valid is None:
            return torch.arange(done, done + ids.shape[1], device=ids.device)
        return (valid.cumsum(1) - 1).clamp(min=0)[:, done:]


def _all_valid(state: GPTState | None, valid: Tensor | None, ids: Tensor) -> Tensor | None:
    """Which of all tokens are valid, (B, L); None if all are."""
    before = None if state is None else state.valid
    if before is None and valid is None:
        return None
    if before is None:
        done = 0 if state is None else state.length
        before = torch.ones(len(ids), done, dtype=torch.bool, device=ids.device)
    if valid is None:
        valid = torch.ones_like(ids, dtype=torch.bool)
    return torch.cat((before, valid), 1)


def _mask(T: int, total: int, valid: Tensor | None, device: torch.device) -> Tensor | None:  # noqa: N803 - the number of new tokens
    """What each new token may attend to, (B, 1, T, total); None if a block knows it by itself."""
    if valid is None and T in (1, total):
        return None
    causal = causal_mask(T, total, device=device)  # (T, total)
    return causal[None, None] if valid is None else causal & valid[:, None, None, :]


def init_gpt(model: GPT, *, generator: torch.Generator | None = None) -> None:
    """Draw all weights anew, as GPT-2 does.

    As in `init_normal`, but the last layer of each residual branch, of which the stream adds up
    2 L, has a standard deviation of 0.02 / √(2 L).

    Args:
        model: its parameters are changed.
        generator: the only source of randomness if it is given.
    """
    init_normal(model, generator=generator)
    branches = 2 * model.cfg.num_layers
    for block in cast("Iterable[Block]", model.blocks):
        for last in (block.attention.out_proj, block.linear2):
            last.weight.data.div_(math.sqrt(branches))
