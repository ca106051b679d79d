"""How a wrong shape differs from the right one, with a question that fits.

Tested in ``test_shape_relations.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

_EXCHANGED = "The sizes are right, but not in this order: which line exchanges or moves axes?"
_SHORTER = "There are too few axes: which call sums one up, picks one entry of it or merges two?"
_SQUEEZED = "An axis of length 1 is missing: which call removes it, or should add it?"
_LONGER = "There is an axis too many: which call keeps or adds it, or broadcasts two tensors?"
_KEPT = "There is an axis of length 1 too many: which call keeps or adds it?"
_REDUCED = "An axis has length 1 that should be longer: which call sums it up or picks one entry?"
_OFF_BY_ONE = "One axis is off by one: what does its length count?"
_NEXT = "Note the shape after each line of your code; where does it go wrong?"


def shape_relation(expected: Sequence[int], seen: Sequence[int]) -> str:
    """What is wrong with the shape `seen`, in a fixed sentence."""
    right, yours = tuple(expected), tuple(seen)
    if len(yours) < len(right):
        return _SQUEEZED if _without_ones(right) == _without_ones(yours) else _SHORTER
    if len(yours) > len(right):
        return _KEPT if _without_ones(right) == _without_ones(yours) else _LONGER
    if sorted(right) == sorted(yours):
        return _EXCHANGED
    different = [(a, b) for a, b in zip(right, yours, strict=True) if a != b]
    if len(different) != 1:
        return _NEXT
    (length, own), *_ = different
    if own == 1 < length:
        return _REDUCED
    return _OFF_BY_ONE if abs(own - length) == 1 else _NEXT


def _without_ones(shape: tuple[int, ...]) -> list[int]:
    return [size for size in shape if size != 1]
