"""Multi-head attention for whole models: one fused kernel, and keys and values that are kept.

:class:`attnlab.multihead.MultiHeadAttention` is the same computation, step by step. The four layers
have the same names in both, so weights can be loaded from one into the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own abbreviation

from attnlab.attention import scaled_dot_product_attention
from attnlab.multihead import merge_heads, split_heads


@dataclass(frozen=True, eq=False)
class KVCache:
    """The keys and values of the tokens so far.

    A cache is a value: `append` and `select` return a new one and leave this one as it is, because
    several hypotheses of a beam search continue the same beginning.

    Attributes:
        k: (B, h, L, d_k).
        v: (B, h, L, d_k).
    """

    k: Tensor
    v: Tensor

    @property
    def length(self) -> int:
        """L, the number of tokens whose keys and values are kept."""
        return self.k.shape[2]

    def append(self, newer: KVCache) -> KVCache:
        """These keys and values, followed by `newer` ones, (B, h, L + newer.length, d_k)."""
        return KVCache(torch.cat((self.k, newer.k), 2), torch.cat((self.v, newer.v), 2))

    def select(self, rows: Tensor) -> KVCache:
        """The rows of the batch that `rows` names, int64 (N,): a row may be named twice or not."""
        return KVCache(self.k[rows], self.v[rows])


class AttentionOutput(NamedTuple):
    """What :class:`Attention` returns.

    Attributes:
        out: (B, Lq, d_model).
        weights: (B, h, Lq, Lk), or None if they were not asked for.
    """

    out: Tensor
    weights: Tensor | None


class Attention(nn.Module):
    """Multi-head attention with torch's fused kernel, in two steps: project keys, then attend.

    The layers are `q_proj`, `k_proj`, `v_proj` and `out_proj`, each an `nn.Linear(d_model,
    d_model)`.

    Args:
        d_model: features of the inputs and of the output.
        num_heads: h, the number of heads.
        dropout: the probability that an attention weight is dropped in training.

    Raises:
        ValueError: h does not divide d_model.

    Source: Attention Is All You Need, section 3.2.2.
    """

    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        if num_heads < 1 or d_model % num_heads:
            raise ValueError(
                f"{d_model} features cannot be divided equally among {num_heads} heads"
            )
        self.num_heads = num_heads
        self.dropout = dropout
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def keys_values(self, x: Tensor) -> KVCache:
        """Project vectors, (B, L, d_model), to the keys and values that queries will look at."""
        k = split_heads(self.k_proj(x), self.num_heads)  # (B, h, L, d_k)
        v = split_heads(self.v_proj(x), self.num_heads)  # (B, h, L, d_k)
        return KVCache(k, v)

    def forward(
        self,
        x: Tensor,
        kv: KVCache,
        mask: Tensor | None = None,
        *,
        is_causal: bool = False,
        need_weights: bool = False,
    ) -> AttentionOutput:
        """Attend from each vector to the keys and values.

        Args:
            x: (B, Lq, d_model), the vectors that ask.
            kv: the keys and values of Lk vectors, from `keys_values`.
            mask: boolean, True where a query may attend to a key, (Lq, Lk) or of four axes that
                broadcast to (B, h, Lq, Lk). A query that may attend to no key gets zeros.
            is_causal: no query looks ahead. Only for Lq = Lk and without a mask: torch's kernel
                aligns the first query with the first key, and with a cache that is wrong.
            need_weights: whether to return the attention weights before dropout, too. The fused
                kernel does not keep them, so this takes the slower way.

        Raises:
            ValueError: `is_causal` with a mask, or with Lq ≠ Lk; or a mask of another rank, whose
                axes would be read as other axes.
        """
        if mask is not None and mask.ndim not in (2, 4):
            raise ValueError(f"a mask has 2 or 4 axes, not {mask.ndim}: (B, h, Lq, Lk)")
        if is_causal and (mask is not None or x.shape[1] != kv.length):
            raise ValueError("is_causal is for as many queries as keys, without another mask")
        q = split_heads(self.q_proj(x), self.num_heads)  # (B, h, Lq, d_k)
        p = self.dropout if self.training else 0.0
        weights = None
        if need_weights:
            if is_causal:
                mask = torch.ones(q.shape[2], kv.length, dtype=torch.bool, device=x.device).tril()
            _, weights = scaled_dot_product_attention(q, kv.k, kv.v, mask)  # (B, h, Lq, Lk)
            found = F.dropout(weights, p) @ kv.v  # (B, h, Lq, d_k)
        else:
            found = F.scaled_dot_product_attention(
                q, kv.k, kv.v, attn_mask=mask, dropout_p=p, is_causal=is_causal
            )  # (B, h, Lq, d_k)
        return AttentionOutput(self.out_proj(merge_heads(found)), weights)
