"""A simple relation between wrong numbers and the right ones, in a fixed sentence.

It serves where no known mistake explains the numbers: a student who knows that every number is off
by one and the same factor finds a logarithm of another base, or a mean over too many. The sentences
hold no number, so they say nothing new about a hidden check's inputs.

Tested in ``test_relations.py``.
"""

from __future__ import annotations

import torch
from torch import Tensor

_EXACT = 1e-6
_FEWEST = 3  # with fewer numbers, a factor or a difference always fits


def relation(expected: Tensor, seen: Tensor) -> str:
    """How all numbers of `seen` follow from those of `expected`, in a sentence; empty if unknown.

    Args:
        expected: the right numbers.
        seen: the student's, of the same shape. Only a relation that holds for every entry counts.
    """
    if seen.is_complex():
        return ""
    right, yours = expected.double(), seen.double()
    if right.numel() < _FEWEST or not bool((right.isfinite() & yours.isfinite()).all()):
        return ""
    if _equal(yours, right):
        return ""  # a factor of 1 would fit, and a difference of 0
    if _constant(right) or _constant(yours):
        return ""
    changed = {
        "Only the signs are wrong.": -right,
        "These are the squares of the right numbers.": right**2,
        "These are the roots of the right numbers.": right.sqrt(),
        "These are the exponentials of the right numbers.": right.exp(),
        "These are the logarithms of the right numbers.": right.log(),
    }
    for sentence, numbers in changed.items():
        if _equal(yours, numbers):
            return sentence
    if _equal(yours, right * _fit(right, yours, None)):
        return "Each is the right number times one and the same factor: which one?"
    if _equal(yours - right, (yours - right).mean()):
        return "Each is the right number plus one and the same number: which one?"
    rows = right.ndim > 1 and right.shape[-1] >= _FEWEST
    if rows and _equal(yours, right * _fit(right, yours, -1)):
        return "Each row is the right one times a factor of its own: what are the sums of a row?"
    if _equal(yours.flatten().sort().values, right.flatten().sort().values):
        return "The numbers are the right ones, but in other places: which axis or order is wrong?"
    return ""


def _fit(right: Tensor, yours: Tensor, dim: int | None) -> Tensor:
    """The factor between the two, for all entries or for each slice along `dim`: least squares."""
    if dim is None:
        return (right * yours).sum() / (right * right).sum()
    squares = (right * right).sum(dim, keepdim=True)
    return (right * yours).sum(dim, keepdim=True) / squares.where(squares > 0, 1.0)


def _constant(numbers: Tensor) -> bool:
    return bool((numbers == numbers.flatten()[0]).all())


def _equal(one: Tensor, other: Tensor) -> bool:
    return torch.allclose(one, other, rtol=_EXACT, atol=_EXACT * float(one.abs().max()))
