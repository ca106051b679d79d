"""Masks: which query may attend to which key. Boolean, True = may attend, as in torch's SDPA.

A mask has the shape of the scores, (..., Lq, Lk), or a shape that broadcasts to it: rows are
queries, columns are keys. There are two other conventions: numbers that are added to the scores,
and booleans with the opposite meaning. The last functions in this file convert between the three.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from attnlab.softmax import softmax


def causal_mask(
    Lq: int,  # noqa: N803 - the field's letters
    Lk: int | None = None,  # noqa: N803
    device: torch.device | str | None = None,
) -> Tensor:
    """No query looks ahead: each may attend to its own position and to all before it.

    The last query has the position of the last key. With more keys than queries (a cache stores
    the keys of earlier tokens), the first query has Lk - Lq keys before its own. With fewer keys,
    the first Lq - Lk queries come before every key and may attend to none.

    Args:
        Lq: number of queries.
        Lk: number of keys, which may be 0; None: the same as Lq.
        device: the device of the mask, as in torch.ones.

    Returns:
        (Lq, Lk), torch.bool: True where the query may attend to the key.

    Source: lectures N (look-ahead mask), C, W.
    """
    Lk = Lq if Lk is None else Lk  # noqa: N806
    return torch.ones(Lq, Lk, dtype=torch.bool, device=device).tril(Lk - Lq)


def padding_mask(ids: Tensor, pad: int) -> Tensor:
    """No query attends to padding: the mask is True for real tokens, in all heads and queries.

    Args:
        ids: (B, Lk), int64, the tokens of each sequence, padded to one length.
        pad: the id of the padding token, any number.

    Returns:
        (B, 1, 1, Lk), torch.bool: True where the key is not padding. The two axes of length 1
        broadcast over heads and queries. Queries that are padding themselves are not masked.
        `ids` stays unchanged.
    """
    return (ids != pad)[:, None, None, :]  # (B, 1, 1, Lk)


def combine(*masks: Tensor | None) -> Tensor | None:
    """A query may attend to a key if every mask allows it.

    Args:
        masks: any number of boolean masks whose shapes broadcast together, such as (Lq, Lk) and
            (B, 1, 1, Lk), True = may attend. None is a mask that allows everything. The masks
            stay unchanged.

    Returns:
        Boolean, the shape that the masks' shapes broadcast to. None if there is no mask, or if
        all are None.
    """
    allowed = None
    for mask in masks:
        if mask is not None:
            allowed = mask if allowed is None else allowed & mask
    return allowed


def to_additive(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """The mask as numbers that are added to the scores before softmax.

    Args:
        mask: boolean, any shape, True = may attend.
        dtype: the dtype of the scores: float64, float32, bfloat16 or float16.

    Returns:
        The shape and device of `mask`, in `dtype`: 0 where the query may attend to the key;
        elsewhere -inf, or in half precision (float16, bfloat16) the lowest finite number of the
        dtype. Added to scores above -16, it stays finite in half precision, so there a row with
        forbidden keys alone does not become NaN. (In float16, -65,504 - 16 is -inf.) `mask` stays
        unchanged.

    Source: lecture N (look-ahead bias).
    """
    half = dtype in (torch.float16, torch.bfloat16)
    lowest = torch.finfo(dtype).min if half else -math.inf
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill(~mask, lowest)


def safe_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Softmax along the last axis over the keys that the mask allows, and zeros for no keys.

    Args:
        scores: (..., Lk), floating point, finite where the mask allows the key; elsewhere they
            may be anything, including infinity and NaN, and have no effect at all.
        mask: boolean, a shape that broadcasts to that of `scores`, True = may attend.

    Returns:
        Weights, shape and dtype of `scores`: exactly 0 for every forbidden key. The weights of a
        row sum to 1 except for rounding (nothing is added to the denominator, and allowed scores
        may be very low: -1e12 in float64). A row without an allowed key is all 0. Gradients flow
        back to allowed scores. The gradient of every forbidden score is 0, and a whole row without
        an allowed key has gradient 0. `scores` and `mask` stay unchanged.
    """
    empty = ~mask.any(-1, keepdim=True)  # (..., 1), rows without an allowed key
    # Without the second fill, the softmax of an empty row would be NaN.
    weights = softmax(scores.masked_fill(~mask, -math.inf).masked_fill(empty, 0))
    return weights.masked_fill(empty, 0)


def to_mha_mask(mask: Tensor, num_heads: int) -> Tensor:
    """The mask as the `attn_mask` of torch.nn.MultiheadAttention: True = must NOT attend.

    Args:
        mask: (Lq, Lk), or (B, 1, Lq, Lk) or (B, num_heads, Lq, Lk); boolean, True = may attend.
        num_heads: the number of heads of the module.

    Returns:
        Boolean, True where the query must not attend to the key: (Lq, Lk) if `mask` has this
        shape, or else (B * num_heads, Lq, Lk), all heads of the first sequence first. `mask` stays
        unchanged.
    """
    if mask.ndim == 4:
        mask = mask.expand(-1, num_heads, -1, -1).flatten(0, 1)  # (B * h, Lq, Lk)
    return ~mask


def to_key_padding_mask(mask: Tensor) -> Tensor:
    """A padding mask as the `key_padding_mask` of torch.nn.MultiheadAttention: True = padding.

    Args:
        mask: (B, 1, 1, Lk), boolean, True = may attend, as `padding_mask` makes it.

    Returns:
        (B, Lk), boolean: True where the key must be ignored. `mask` stays unchanged.
    """
    return ~mask[:, 0, 0]  # (B, Lk)


def from_additive(bias: Tensor) -> Tensor:
    """The boolean mask for numbers that are added to scores.

    Args:
        bias: any shape and floating dtype: 0 where the query may attend to the key, and elsewhere
            -inf or a very low number (different code uses -1e4, -1e9 or the dtype's lowest).

    Returns:
        Boolean, the shape of `bias`, True = may attend. `bias` stays unchanged.
    """
    return bias == 0
