"""Whether a test of attention rejects a right version in some of its runs, and why."""

from __future__ import annotations

import contextlib
import math

import torch

from attnlab.checking.draw import seed_everything
from attnlab.checking.rough_comparisons import RoughComparisons

ONLY_LAST_DIGITS = "only the last digits differ"
WITHOUT_KEYS = "a query without keys"
OTHER_CAUSE = "another cause"


def has_no_keys(mask):
    """Whether a mask leaves a query without keys."""
    return mask is not None and not bool(mask.any(-1).all())


def noting_inputs(attention, noted):
    """A version that notes the sum of each of its inputs, and whether a query has no keys."""

    def version(q, k, v, mask=None):
        tensors = [x.detach() for x in (q, k, v, mask) if isinstance(x, torch.Tensor)]
        try:
            noted.append([has_no_keys(mask), *(repr(x.sum().item()) for x in tensors)])
        except RuntimeError:  # inside a transform of torch.func, tensors have no numbers
            noted.append([False])
        return attention(q, k, v, mask)

    return version


def without_keys(attention, share):
    """A version that gives a query without keys this share of what equal weights give it."""

    def version(q, k, v, mask=None):
        output, weights = attention(q, k, v, mask)
        if mask is not None:
            some = mask.any(-1, keepdim=True)
            output = torch.where(some, output, share * v.mean(-2, keepdim=True))
            weights = torch.where(some, weights, share / k.shape[-2])
        return output, weights

    return version


def cause(draw, test, attention, seed):
    """Why a test rejects a right version in the run that begins with `seed`.

    A test gets farther with another version, or with rough comparisons, if it raises nothing or
    calls its argument more often.
    """

    def tried(version, comparisons):
        seed_everything(seed)
        calls = []
        with comparisons:
            error = draw.raises(test, noting_inputs(version, calls))
        return error, calls

    def gets_farther(version, comparisons):
        error, more = tried(version, comparisons)
        return error is None or len(more) > len(calls)

    error, calls = tried(attention, contextlib.nullcontext())
    if error is None or not calls:
        return OTHER_CAUSE
    if gets_farther(attention, RoughComparisons()):
        return ONLY_LAST_DIGITS
    if not calls[-1][0]:
        return OTHER_CAUSE
    others = (without_keys(attention, share) for share in (0.0, 1.0, math.nan))
    found = any(gets_farther(one, RoughComparisons(nan_equal=True)) for one in others)
    return WITHOUT_KEYS if found else OTHER_CAUSE


def later_runs(draw, test, attention):
    """Whether a test that draws other inputs in each run accepts a right version in all of them.

    A test whose first two runs have the same inputs is not run again.

    Returns:
        True, or the first error; and its cause.
    """
    runs = []
    while len(runs) < 40 and sum(map(len, runs)) < 150:
        seed = len(runs)
        runs.append([])
        seed_everything(seed)
        answer = draw.accepted(test, noting_inputs(attention, runs[-1]))
        if answer is not True:
            return answer, cause(draw, test, attention, seed)
        if runs[-2:-1] == runs[-1:]:
            break
    return True, "none"
