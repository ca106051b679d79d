"""Induction heads: heads that find the last occurrence of a token and look at what came after it.

Source: In-context Learning and Induction Heads (Olsson et al. 2022).
"""

from __future__ import annotations

from torch import Tensor


def induction_scores(weights: Tensor, period: int) -> Tensor:
    """How much each head attends to the token that followed the last time.

    The rows repeat themselves: the token at place t is the one at place t - period. From a place t
    of a repetition (t ≥ period), an induction head looks at place t - period + 1: there stands what
    came after this token the last time, and it will come again.

    Args:
        weights: (B, h, T, T), attention weights: entry [b, i, t, s] is what head i gives to place s
            from place t. T is above `period`.
        period: after how many places a row repeats itself; 2 or more.

    Returns:
        (h,): for each head the mean of these weights over all rows and all places t ≥ period.
    """
    # blank: one weight for each place of a repetition, then the mean
    diagonal = weights.diagonal(1 - period, 2, 3)  # (B, h, T - period + 1), from t = period - 1
    return diagonal[..., 1:].mean((0, 2))
    # end blank
