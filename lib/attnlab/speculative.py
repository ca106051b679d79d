"""Speculative decoding: a small model drafts tokens, a large one accepts or replaces them.

Source: Fast Inference from Transformers via Speculative Decoding (Leviathan et al. 2023).
"""

from __future__ import annotations

import torch
from torch import Tensor


def accept(
    drafted: Tensor, q: Tensor, p: Tensor, *, generator: torch.Generator | None = None
) -> Tensor:
    """Decide which drafted tokens stay, so that each written token is a draw of the large model.

    A small model has drafted K tokens, each drawn from a distribution of its own, a row of q. The
    large model has read all of them in one call. A row of p is its distribution at the same place,
    and p has one row more, for the token after the last one.

    The tokens are looked at in order. Token x stays with the probability min(1, p[x] / q[x]), with
    the rows of its place. The first one that does not stay is replaced by a draw in proportion to
    max(0, p - q), and all tokens after it are dropped. If all stay, one more token is drawn from
    the last row of p.

    Args:
        drafted: (K,), int64; K may be 0.
        q: (K, V), probabilities, which are above 0 for the drafted tokens.
        p: (K + 1, V), probabilities. All three stay unchanged.
        generator: the only source of randomness if it is given.

    Returns:
        (n,), int64, n from 1 to K + 1: the drafted tokens that stay, and one more.

    Source: Leviathan et al. 2023, algorithm 1.
    """
    # blank: accept in order, replace the first that fails, or add one
    for i, x in enumerate(drafted.tolist()):
        chance = torch.rand((), generator=generator, dtype=p.dtype)
        if chance * q[i, x] >= p[i, x]:
            other = torch.multinomial((p[i] - q[i]).clamp(min=0), 1, generator=generator)
            return torch.cat((drafted[:i], other))
    more = torch.multinomial(p[len(drafted)], 1, generator=generator)
    return torch.cat((drafted, more))
    # end blank
