"""Whether a test of attention rejects a right version in some of its runs, and why."""

from __future__ import annotations

import contextlib
import math

import torch
from torch.overrides import TorchFunctionMode

from attnlab.checking.draw import seed_everything

ONLY_LAST_DIGITS = "only the last digits differ"
WITHOUT_KEYS = "a query without keys"
OTHER_CAUSE = "another cause"

# Names of functions that make one number of all differences.
OF_ALL = ("max", "amax", "sum", "mean", "norm", "linalg_norm", "linalg_vector_norm")
OF_ALL_PAIRS = ("mse_loss", "l1_loss", "dist")
# Right numbers in float32 differ by less.
LIMIT, PLACES = 1e-6, 6


def near(one, other, nan_equal):
    return torch.isclose(one, other, rtol=1e-5, atol=LIMIT, equal_nan=nan_equal)


class RoughComparisons(TorchFunctionMode):
    """Compares floating numbers as roughly as float32 needs, however exactly the code does.

    With `nan_equal`, NaN is equal to NaN, and does not hide the other differences.
    """

    def __init__(self, nan_equal=False):
        super().__init__()
        self.nan_equal = nan_equal

    def __torch_function__(self, function, types, args=(), kwargs=None):
        name = getattr(function, "__name__", "").strip("_")
        kwargs, pair = kwargs or {}, args[:2]
        if function in (torch.Tensor.item, torch.Tensor.__float__) and pair[0].is_floating_point():
            return round(function(*args), PLACES)
        floating = any(isinstance(x, torch.Tensor) and x.is_floating_point() for x in pair)
        of_all = name in OF_ALL and len(args) == 1 and kwargs.get("dim") is None
        if self.nan_equal and floating and (of_all or name in OF_ALL_PAIRS):
            pair = torch.broadcast_tensors(*pair)
            nan = sum(pair).isnan()
            return function(*(x.masked_fill(nan, 0) for x in pair), *args[2:], **kwargs)
        if not floating or len(pair) < 2:
            return function(*args, **kwargs)
        if name in ("allclose", "isclose"):
            close = near(*pair, self.nan_equal)
            return bool(close.all()) if name == "allclose" else close
        if name in ("equal", "eq", "ne"):
            one, other = (torch.as_tensor(x).double() for x in pair)
            if name == "equal" and one.shape != other.shape:
                return False
            close = near(one, other, self.nan_equal)
            return bool(close.all()) if name == "equal" else close == (name == "eq")
        if name in ("lt", "le", "gt", "ge") and isinstance(pair[1], float) and 0 < pair[1] < LIMIT:
            below = (pair[0] < LIMIT) | (pair[0].isnan() & self.nan_equal)
            return below == (name in ("lt", "le"))
        return function(*args, **kwargs)


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
