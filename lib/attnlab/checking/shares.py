"""Whether two lots of random draws could come from one distribution.

The chi-square test of homogeneity, with one change. Both lots may have been made from the same
random numbers, by two right functions that use them in different ways. Then they are not
independent, and the variance of their difference is up to twice as large. So the statistic is
halved: chance alone fails the test at most as often as `least_p` says.

Tested in ``test_judges.py``.
"""

from __future__ import annotations

import torch
from torch import Tensor

_RARE = 10.0  # values with fewer draws in both lots together are counted as one value
_CLEARLY = 16.0  # the part of the statistic from which on one value is off by itself


def unlikely(expected: Tensor, seen: Tensor, least_p: float) -> Tensor:
    """Which counts differ more than chance explains.

    Args:
        expected, seen: (..., V), how often each of V values was drawn.
        least_p: the probability of a difference as large as the largest one allowed.

    Returns:
        (..., V), boolean: False in all rows that could come from one distribution. In the others,
        True at each value that is clearly off, and at the one that is most so.
    """
    a, b = expected.to(torch.float64), seen.to(torch.float64)
    rare = a + b < _RARE
    parts = _parts(a.masked_fill(rare, 0), b.masked_fill(rare, 0))
    others = _parts(*((lot * rare).sum(-1, keepdim=True) for lot in (a, b)))
    cells = torch.cat((parts, others), -1)  # (..., V + 1)
    taken = torch.cat((~rare, rare.any(-1, keepdim=True)), -1)
    freedom = (taken.sum(-1) - 1).clamp(min=1).double()
    p = torch.special.gammaincc(freedom / 2, cells.sum(-1) / 2)
    wrong_row = (p < least_p) | (a.sum(-1) != b.sum(-1)) | (seen < 0).any(-1)
    off = (parts > _CLEARLY) | (parts == parts.amax(-1, keepdim=True))
    return off & wrong_row[..., None]


def _parts(a: Tensor, b: Tensor) -> Tensor:
    """What each value adds to the statistic, halved; nothing if it was never drawn."""
    return (a - b).square() / (2 * (a + b).clamp(min=1))
