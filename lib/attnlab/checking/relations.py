"""A simple relation between wrong numbers and the right ones, in a fixed sentence.

It serves where no known mistake explains the numbers: a student who knows that every number is off
by one and the same factor finds a logarithm of another base, or a mean over too many. The sentences
hold no number but that of an axis, so they say nothing new about a hidden check's inputs.

Tested in ``test_relations.py``.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

_EXACT = 1e-6
_FEWEST = 3  # with fewer numbers, a factor or a difference always fits
_SMALL_COUNT = 12
_SUMS = 1e-4  # how far from 1 a sum may be, whatever the dtype
_ALMOST = 1e-2
_INVERTED = "True and False are exchanged throughout: what does True mean in this task?"


def relation(expected: Tensor, seen: Tensor) -> str:
    """How all numbers of `seen` follow from those of `expected`, in a sentence; empty if unknown.

    Args:
        expected: the right numbers.
        seen: the student's, of the same shape. Only a relation that holds for every entry counts.
    """
    if seen.is_complex():
        return ""
    if seen.dtype == torch.bool and expected.dtype == torch.bool:
        return _INVERTED if torch.equal(seen, ~expected) else ""
    right, yours = expected.double(), seen.double()
    if right.numel() < _FEWEST or not bool((right.isfinite() & yours.isfinite()).all()):
        return ""
    if _equal(yours, right):
        return ""  # a factor of 1 would fit, and a difference of 0
    if _constant(right):
        return ""
    if _constant(yours):
        return "All your numbers are the same: which line makes them so?"
    if _whole(yours) and not _whole(right):
        return "All your numbers are whole: which line rounds them, cuts them off or only counts?"
    found = _of_each(right, yours) or _of_axes(right, yours) or _of_places(right, yours)
    return found or _of_zeros(right, yours) or _of_sums(right, yours)


def relation_of_two(expected: float, seen: float) -> str:
    """How one wrong number follows from the right one, in a sentence; empty if unknown.

    Any two numbers have some factor, so only factors that slips make are named.
    """
    if not (math.isfinite(expected) and math.isfinite(seen)) or 0 in (expected, seen):
        return ""
    if math.isclose(seen, -expected, rel_tol=_EXACT):
        return "Only the sign is wrong."
    whole = float(expected).is_integer() and float(seen).is_integer()
    if whole and abs(expected) <= _SMALL_COUNT:
        return ""  # small counts and sizes are near each other, whatever the slip
    ratio = abs(seen / expected)
    ratio = max(ratio, 1 / ratio)
    for factor, slip in _SLIPS.items():
        if math.isclose(ratio, factor, rel_tol=1e-3):
            is_share = min(abs(expected), abs(seen)) <= 1
            return slip if factor != _PERCENT or is_share else ""
    if whole and abs(seen - expected) == 1:
        return "It is off by one: what is counted once too often, or left out?"
    return ""


_PERCENT = 100.0
# Factors by which a number may be too large or too small, and what makes them.
_SLIPS = {
    2.0: "It is off by a factor of two: what is counted twice, or only once?",
    _PERCENT: "It is off by a factor of 100: does the task ask for a share or for percent?",
    1000.0: "It is off by a factor of 1000: in which unit does the task ask for it?",
    1e6: "It is off by a factor of a million: in which unit does the task ask for it?",
    1e9: "It is off by a factor of 10⁹: in which unit does the task ask for it?",
    math.log2(math.e): "It is off by a factor that fits a logarithm: which base does the task use?",
    math.log(10): "It is off by a factor that fits a logarithm: which base does the task use?",
    math.log2(10): "It is off by a factor that fits a logarithm: which base does the task use?",
}


def _of_each(right: Tensor, yours: Tensor) -> str:
    """The same is done to each number."""
    changed = {
        "Only the signs are wrong.": -right,
        "These are the squares of the right numbers.": right**2,
        "These are the roots of the right numbers.": right.sqrt(),
        "These are the exponentials of the right numbers.": right.exp(),
        "These are the logarithms of the right numbers.": right.log(),
        "Each of your numbers and the right one add up to 1: what is turned round?": 1 - right,
    }
    for sentence, numbers in changed.items():
        if _equal(yours, numbers):
            return sentence
    if _equal(yours, right * _fit(right, yours, None)):
        return "Each is the right number times one and the same factor: which one?"
    if _equal(yours - right, (yours - right).mean()):
        return "Each is the right number plus one and the same number: which one?"
    return ""


def _of_axes(right: Tensor, yours: Tensor) -> str:
    """What is true of the numbers along one axis."""
    axes = [dim for dim in range(right.ndim) if right.shape[dim] > 1]
    sums = [dim for dim in axes if _sums_to_one(yours, dim)]
    if any(_sums_to_one(right, dim) for dim in axes if dim not in sums):
        for dim in sums:
            if not _sums_to_one(right, dim):
                return f"Yours sum to 1 along dimension {dim}: is that the axis that the task asks?"
    rows = right.ndim > 1 and right.shape[-1] >= _FEWEST and bool((yours != 0).any(-1).all())
    if rows and _equal(yours, right * _fit(right, yours, -1)):
        return "Each row is the right one times a factor of its own: what are the sums of a row?"
    for dim in axes:
        if _repeated(yours, dim) and not _repeated(right, dim):
            return f"Yours are the same all along dimension {dim}: which line makes them so?"
    return ""


def _of_places(right: Tensor, yours: Tensor) -> str:
    """The right numbers, or most of them, are in other places."""
    if right.ndim > 1 and right.shape[-1] == right.shape[-2] and _equal(yours, right.mT):
        return "Rows and columns are exchanged: which of the two comes first in your code?"
    for dim, length in enumerate(right.shape):
        if length < _FEWEST:
            continue
        if _equal(yours, right.flip(dim)):
            return f"The order along dimension {dim} is reversed: which line reverses it?"
        if _moved(right, yours, dim) or _moved(yours, right, dim):
            return f"The numbers are one place off along dimension {dim}: which line moves them?"
    if _equal(yours.flatten().sort().values, right.flatten().sort().values):
        return "The numbers are the right ones, but in other places: which axis or order is wrong?"
    return ""


def _of_zeros(right: Tensor, yours: Tensor) -> str:
    """Which numbers are 0, as blocked ones are."""
    zero, nil = right == 0, yours == 0
    if int(zero.sum()) >= _FEWEST and not bool((zero & nil).any()):
        return "Entries that should be exactly 0 are not: what is to keep them out?"
    if bool((nil & ~zero).any()) and bool(nil[zero].all()):
        return "Some entries are 0 that should not be: which line makes them 0?"
    return ""


def _of_sums(right: Tensor, yours: Tensor) -> str:
    """The right numbers are shares of a whole, and the student's are not."""
    for dim in reversed(range(right.ndim)):  # mostly, shares are along the last axis
        shares = right.shape[dim] > 1 and _sums_to_one(right, dim)
        if shares and bool((yours < 0).any()):
            return (
                "Some of yours are below 0, as no share can be: where do negative numbers come in?"
            )
        # Sums that are almost 1 are a matter of digits, not of a missing division.
        if shares and not _sums_to_one(yours, dim, _ALMOST):
            return f"Yours do not all sum to 1 along dimension {dim}: what should make them do so?"
    return ""


def _moved(one: Tensor, other: Tensor, dim: int) -> bool:
    """Whether `other` is `one` moved by one place along `dim`, whatever is at the ends."""
    length = one.shape[dim] - 1
    return _equal(one.narrow(dim, 0, length), other.narrow(dim, 1, length))


def _sums_to_one(numbers: Tensor, dim: int, most: float = _SUMS) -> bool:
    return bool((numbers >= 0).all()) and bool(((numbers.sum(dim) - 1).abs() < most).all())


def _repeated(numbers: Tensor, dim: int) -> bool:
    """Whether all slices along `dim` are the same."""
    return _equal(numbers, numbers.narrow(dim, 0, 1).expand_as(numbers))


def _fit(right: Tensor, yours: Tensor, dim: int | None) -> Tensor:
    """The factor between the two, for all entries or for each slice along `dim`: least squares."""
    if dim is None:
        return (right * yours).sum() / (right * right).sum()
    squares = (right * right).sum(dim, keepdim=True)
    return (right * yours).sum(dim, keepdim=True) / squares.where(squares > 0, 1.0)


def _whole(numbers: Tensor) -> bool:
    return bool((numbers == numbers.round()).all())


def _constant(numbers: Tensor) -> bool:
    return bool((numbers == numbers.flatten()[0]).all())


def _equal(one: Tensor, other: Tensor) -> bool:
    return torch.allclose(one, other, rtol=_EXACT, atol=_EXACT * float(one.abs().max()))
