"""Grouped queries: several heads of queries share one head of keys and values.

Source: GQA: Training Generalized Multi-Query Transformer Models (Ainslie et al. 2023), section 2.2.
"""

from __future__ import annotations

from torch import Tensor

from attnlab.attention import scaled_dot_product_attention


def grouped_query_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """Attend with h heads of queries to g heads of keys and values.

    Each head of keys and values serves h / g heads of queries that follow each other: the first of
    them serves the heads 0 … h/g - 1, and so on. With g = h this is multi-head attention, with
    g = 1 all heads share one (multi-query attention).

    Args:
        q: (B, h, Lq, d_k); stays unchanged, as the others do.
        k: (B, g, Lk, d_k).
        v: (B, g, Lk, d_v).
        mask: boolean, True where a query may attend to a key; it broadcasts to (B, h, Lq, Lk).

    Returns:
        (B, h, Lq, d_v), as `scaled_dot_product_attention` gives for each head. Gradients flow back
        to `q`, `k` and `v`.

    Raises:
        ValueError: g does not divide h.
    """
    # blank: each head of keys and values as often as it is needed, then lab 3's attention
    heads, groups = q.shape[1], k.shape[1]
    if heads % groups:
        raise ValueError(f"{groups} heads of keys cannot serve {heads} heads of queries equally")
    k = k.repeat_interleave(heads // groups, 1)  # (B, h, Lk, d_k)
    v = v.repeat_interleave(heads // groups, 1)  # (B, h, Lk, d_v)
    return scaled_dot_product_attention(q, k, v, mask)[0]
    # end blank
