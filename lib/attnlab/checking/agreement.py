"""Whether a student's observation is that of a known mistake.

A tolerance that allows for another order of additions also allows other mistakes, and the right
answer: a student's 1e-9 is near a mistake's 1e-8, and both are near 0. So in a failed check the
mistake must fail, too, and the student's numbers must be off by as much as the mistake's.

Tested in ``test_agreement.py`` and ``test_verdict.py``.
"""

from __future__ import annotations

import re
from typing import Any

import torch
from torch import Tensor

from attnlab.checking.errors import MISSING_WEIGHT
from attnlab.checking.judges import AtLeast, Close, Judge, Kills, SameShares, Within
from attnlab.checking.observation import Raised, as_float, is_number

# Equal results may differ by this much, if the operations have another order.
_NEAR = Close(atol=1e-7, rtol=1e-7)
# The share of a mistake's own distance from the right answer by which a student's may differ.
_SHARE = 0.1
_CLASS = re.compile(r"^'\w+' object has no attribute")
_SIZE = re.compile(r"\d+")
_SHAPE, _NUMBER = re.compile(r"\([\d, ]*\)"), re.compile(r"\d+: ")


def agrees(judge: Judge, expected: Any, mistaken: Any, seen: Any, passed: bool) -> bool:
    """Whether a check's observation of the student's code is as with a known mistake.

    Args:
        judge: of the check.
        expected: the reference's observation.
        mistaken: the known mistake's observation.
        seen: the student's observation.
        passed: whether the student passed the check.
    """
    if passed and isinstance(judge, Close | AtLeast | Within):
        return judge.compare(expected, mistaken) is None
    if not isinstance(judge, Close):
        # Two trained models are never equal, and one that is good enough says nothing about a slip.
        return (passed and not isinstance(judge, Kills)) or _same(mistaken, seen)
    if isinstance(judge, SameShares):
        # Counts of random draws are never equal, even if the code is.
        return _same(mistaken, seen, judge) and judge.compare(expected, mistaken) is not None
    # Numbers that students write down are rounded, as far as the judge allows.
    near = judge if is_written(judge, expected) else _NEAR
    return (
        _same(mistaken, seen, near)
        and judge.compare(expected, mistaken) is not None
        and _equally_far(judge, expected, mistaken, seen)
    )


def is_written(judge: Judge, expected: Any) -> bool:
    """Whether a result is written down by hand: rounded numbers of Python and nothing else."""
    return isinstance(judge, Close) and judge.atol > _NEAR.atol and _holds_plain_numbers(expected)


def _holds_plain_numbers(expected: Any) -> bool:
    if isinstance(expected, dict):
        expected = list(expected.values())
    if isinstance(expected, list):
        return bool(expected) and all(map(_holds_plain_numbers, expected))
    return is_number(expected) and not isinstance(expected, Tensor)


def _same(mistaken: Any, seen: Any, judge: Close = _NEAR) -> bool:
    if isinstance(seen, Raised) and isinstance(mistaken, Raised):
        # Many mistakes end in a TypeError; only the same message points to the same mistake.
        return mistaken.type == seen.type and _said(mistaken) == _said(seen)
    return judge.compare(mistaken, seen) is None and _same_errors(mistaken, seen)


def _same_errors(mistaken: Any, seen: Any) -> bool:
    """Whether the errors at the same places of two equal trees say the same, but for numbers.

    An entry may have other sizes in another order of the same operations. Where a check only asks
    for an error's type, there is no message to compare.
    """
    match mistaken, seen:
        case list(), list():
            return all(map(_same_errors, mistaken, seen))
        case dict(), dict():
            return all(_same_errors(value, seen[key]) for key, value in mistaken.items())
        case Raised(message=str(one)), Raised(message=str(other)) if one and other:
            return _SIZE.sub("", str(_said(mistaken))) == _SIZE.sub("", str(_said(seen)))
    return True


def _said(raised: Raised) -> object:
    """The message, without names that every student gives otherwise: of a class, of weights.

    A message on weights lists all of them with their shapes, or their number and the first of them.
    """
    if raised.type != MISSING_WEIGHT:
        return _CLASS.sub("object has no attribute", raised.message)
    missing, _, there = raised.message.partition("; there are ")
    number = _NUMBER.match(there)
    return missing, number[0] if number else sorted(_SHAPE.findall(there))


def _equally_far(judge: Close, expected: Any, mistaken: Any, seen: Any) -> bool:
    """Whether two nearly equal trees deviate from `expected` by nearly the same amount."""
    match expected, mistaken, seen:
        case list(), list(), list() if len(expected) == len(mistaken) == len(seen):
            return all(
                _equally_far(judge, *three) for three in zip(expected, mistaken, seen, strict=True)
            )
        case dict(), dict(), dict() if expected.keys() == mistaken.keys() == seen.keys():
            return all(
                _equally_far(judge, value, mistaken[key], seen[key])
                for key, value in expected.items()
            )
        case Tensor(), Tensor(), Tensor() if expected.shape == mistaken.shape == seen.shape:
            return _tensors_equally_far(judge, expected, mistaken, seen)
        case _ if is_number(expected) and is_number(mistaken) and is_number(seen):
            three = (
                torch.tensor(as_float(value), dtype=torch.float64)
                for value in (expected, mistaken, seen)
            )
            return _tensors_equally_far(judge, *three)
    return True  # a difference in kind, which _same has compared


def _tensors_equally_far(judge: Close, expected: Tensor, mistaken: Tensor, seen: Tensor) -> bool:
    right, mistake, student = (value.to(torch.float64) for value in (expected, mistaken, seen))
    atol, rtol = judge.tolerance(expected)
    if mistaken.is_floating_point() and expected.is_floating_point():
        # Rounding in a lower precision than the reference's depends on the order of operations.
        lower = torch.finfo(mistaken.dtype).eps
        if lower > torch.finfo(expected.dtype).eps:
            if not _holds(mistaken.dtype, seen):
                return False
            atol, rtol = max(atol, 16 * lower), max(rtol, 16 * lower)
    allowed = atol + rtol * right.abs() + _SHARE * (mistake - right).abs()
    compared = torch.isfinite(right) & torch.isfinite(mistake) & torch.isfinite(student)
    distance = (student - mistake).abs()
    return bool((distance[compared] <= allowed[compared]).all())


def _holds(dtype: torch.dtype, values: Tensor) -> bool:
    """Whether these numbers fit into `dtype`, as those that were computed in it do."""
    return torch.equal(values.to(dtype).to(values.dtype).nan_to_num(), values.nan_to_num())
