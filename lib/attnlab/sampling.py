"""Choosing the next token from a model's logits: temperature, top-k and top-p.

Source: The Curious Case of Neural Text Degeneration (Holtzman et al. 2020), section 3.1; lectures
G, N.
"""

from __future__ import annotations

import torch
from torch import Tensor


def sample(
    logits: Tensor,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    *,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Draw a token for each row of logits.

    The logits are divided by the temperature. Then only the `top_k` likeliest tokens stay. Of what
    is left, as probabilities that add up to 1, the smallest set of likeliest tokens stays whose
    total reaches `top_p`, so the token that crosses `top_p` stays, and at least one does. The token
    is drawn from what is left. Which of several tokens with equal logits stays is open.

    Args:
        logits: (..., V); they stay unchanged.
        temperature: above 1 makes the distribution flatter, below 1 sharper; 0 takes the likeliest
            token, whatever `top_k` and `top_p` are.
        top_k: how many tokens stay; all of them if it is above V, or None.
        top_p: the share of the probability that stays; None for all.
        generator: the only source of randomness if it is given.

    Returns:
        (...), int64: one token for each row, drawn independently.

    Raises:
        ValueError: a negative temperature, `top_k` below 1, or `top_p` outside (0, 1].
    """
    if temperature < 0:
        raise ValueError(f"the temperature is not negative: {temperature}")
    if top_k is not None and top_k < 1:
        raise ValueError(f"at least one token stays: top_k={top_k}")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"top_p is above 0 and at most 1: {top_p}")
    # blank: temperature, top-k, top-p, draw
    if temperature == 0:
        return logits.argmax(-1)
    # The largest logit becomes 0, so a small temperature makes no infinity.
    scores = (logits - logits.amax(-1, keepdim=True)) / temperature  # (..., V)
    scores, tokens = scores.sort(-1, descending=True)
    if top_k is not None:
        scores = scores[..., :top_k]
    p = scores.softmax(-1)  # (..., K)
    if top_p is not None:
        before = p.cumsum(-1) - p  # the probability of all likelier tokens
        stays = before < top_p
        stays[..., 0] = True
        p = p.masked_fill(~stays, 0)
    place = torch.multinomial(p.reshape(-1, p.shape[-1]), 1, generator=generator)  # (rows, 1)
    return tokens.gather(-1, place.reshape(*p.shape[:-1], 1)).squeeze(-1)
    # end blank
