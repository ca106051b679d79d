"""Judges compare what was seen with what was expected, and say where and how it differs.

A judge is a small frozen value. Its method ``compare(expected, seen)`` returns None or the first
:class:`Difference`. Kinds of difference are checked from coarse to fine: missing, raised, wrong
type, shape, NaN or infinity, values. So a student reads about a wrong shape before any wrong number
in it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from attnlab.checking.draw import NO_GRADIENT, ONLY_PRINTED, RETURNED_FALSE
from attnlab.checking.observation import Missing, NoAnswer, Opaque, Raised, as_float, is_number
from attnlab.checking.shares import unlikely

Path = tuple[str | int, ...]
# Whether a student's test accepts the student's own version; asked before all others.
OWN_ACCEPTED = "accepts your own"


@dataclass(frozen=True)
class Difference:
    """The first place where two observations differ, and how.

    Attributes:
        kind: "no answer", "missing", "raised", "forbidden", "type", "length", "shape", "dtype",
            "nan", "gradient", "values", "shares", "word", "test returns", "test prints", or a kind
            that a judge names.
        path: the keys and indices that lead from the top of the observation to this place.
        expected: the value there in the reference's observation.
        seen: the value there in the student's observation.
        detail: a sentence of the judge beyond the two values.
        wrong: boolean, True at entries that differ beyond the tolerance; None unless the values
            are two tensors of one shape.
    """

    kind: str
    path: Path = ()
    expected: Any = None
    seen: Any = None
    detail: str = ""
    wrong: Tensor | None = None

    @property
    def is_rejection(self) -> bool:
        """Whether the student's test raised on a right version (see :meth:`.Draw.accepted`)."""
        key = str(self.path[-1]) if self.path else ""
        return isinstance(self.seen, Raised) and key.startswith("accepts ")


class Judge(Protocol):
    """Compares two observations and gives credit."""

    def compare(self, expected: Any, seen: Any) -> Difference | None:
        """The first difference, or None if `seen` is as good as `expected`."""

    def credit(self, expected: Any, seen: Any) -> float:
        """The share of the check's points that `seen` earns, from 0 to 1."""


class _AllOrNothing:
    """A judge that gives all of a check's points or none."""

    def compare(self, expected: Any, seen: Any) -> Difference | None:
        raise NotImplementedError

    def credit(self, expected: Any, seen: Any) -> float:
        return float(self.compare(expected, seen) is None)


@dataclass(frozen=True)
class Close(_AllOrNothing):
    """Equal, and numbers equal to within ``atol + rtol * |expected|``, compared in float64.

    If the reference's own numbers have less precision than float64, the tolerance is widened to
    that precision. Strings, lists, shapes and events (errors, missing names) must agree exactly.
    The dtype of a tensor is not compared: a check of the dtype returns its name.

    A tolerance of 0 is not widened. So ``Close(atol=0)`` compares relatively, and an expected 0
    must be exactly 0; ``Close(atol=0, rtol=0)`` compares exactly.

    Attributes:
        words: the words from which the student chooses, if the answer is one of a few; another
            word is named as such.
    """

    atol: float = 1e-9
    rtol: float = 1e-9
    words: tuple[str, ...] = ()

    def compare(self, expected: Any, seen: Any) -> Difference | None:
        """The first place where the two trees differ."""
        return self._compare(expected, seen, ())

    def _compare(self, expected: Any, seen: Any, path: Path) -> Difference | None:
        if isinstance(expected, Raised) and isinstance(seen, Raised):
            if expected.type == seen.type:
                return None
            return Difference("raised", path, expected, seen)
        found = event_difference(expected, seen, path)
        if found is not None:
            return found
        if is_number(expected) and is_number(seen):
            return self._numbers(expected, seen, path)
        match expected, seen:
            case Tensor(), Tensor():
                return self._tensors(expected, seen, path)
            case list(), list() if _are_shapes(path, expected, seen):
                return None if expected == seen else Difference("shape", path, expected, seen)
            case list(), list():
                if len(expected) != len(seen):
                    return Difference("length", path, len(expected), len(seen))
                return self._first(
                    (index, item, seen[index]) for index, item in enumerate(expected)
                )(path)
            case dict(), dict():
                if expected.keys() != seen.keys():
                    return Difference("keys", path, sorted(expected), sorted(seen))
                return self._first((key, item, seen[key]) for key, item in expected.items())(path)
        if type(expected) is not type(seen):
            return Difference("type", path, expected, seen)
        if expected == seen:
            return None
        if self.words and isinstance(seen, str) and seen not in self.words:
            return Difference("word", path, list(self.words), seen)
        return Difference("values", path, expected, seen)

    def _first(self, items: Any) -> Any:
        def search(path: Path) -> Difference | None:
            for key, expected, seen in items:
                difference = self._compare(expected, seen, (*path, key))
                if difference is not None:
                    return difference
            return None

        return search

    def _numbers(self, expected: Any, seen: Any, path: Path) -> Difference | None:
        right, theirs = as_float(expected), as_float(seen)
        if math.isnan(right) and math.isnan(theirs):
            return None
        atol, rtol = self.tolerance(expected)
        # Only infinity is close to infinity, although rtol * infinity would allow any distance.
        if right == theirs or (
            math.isfinite(right) and abs(right - theirs) <= atol + rtol * abs(right)
        ):
            return None
        strange = math.isnan(theirs) or (math.isinf(theirs) and math.isfinite(right))
        kind = "nan" if strange else "values"
        return Difference(kind, path, expected, seen)

    def _tensors(self, expected: Tensor, seen: Tensor, path: Path) -> Difference | None:
        if expected.shape != seen.shape:
            return Difference("shape", path, expected, seen)
        if expected.is_complex() != seen.is_complex():
            return Difference("dtype", path, expected, seen)
        right, theirs = expected.to(torch.float64), seen.to(torch.float64)
        atol, rtol = self.tolerance(expected)
        wrong = ~torch.isclose(theirs, right, atol=atol, rtol=rtol, equal_nan=True)
        if not bool(wrong.any()):
            return None
        strange = wrong & (theirs.isnan() | (theirs.isinf() & right.isfinite()))
        kind = "nan" if bool(strange.any()) else "values"
        return Difference(kind, path, expected, seen, wrong=wrong)

    def tolerance(self, expected: Any) -> tuple[float, float]:
        """The absolute and the relative tolerance for an expected tensor or number."""
        if isinstance(expected, Tensor) and expected.is_floating_point():
            precision = 16 * torch.finfo(expected.dtype).eps
            atol, rtol = (max(size, precision) if size else 0.0 for size in (self.atol, self.rtol))
            return atol, rtol
        return self.atol, self.rtol


@dataclass(frozen=True)
class SameShares(Close):
    """Close, but whole-number tensors (..., V) count random draws and may differ by chance.

    Attributes:
        least_p: the probability of a difference as large as the largest one allowed.
    """

    least_p: float = 1e-6

    def _tensors(self, expected: Tensor, seen: Tensor, path: Path) -> Difference | None:
        if not (_are_counts(expected) and _are_counts(seen) and expected.shape == seen.shape):
            return super()._tensors(expected, seen, path)
        wrong = unlikely(expected, seen, self.least_p)
        return Difference("shares", path, expected, seen, wrong=wrong) if wrong.any() else None


@dataclass(frozen=True)
class AtLeast(_AllOrNothing):
    """One number that must not be smaller than `minimum`."""

    minimum: float

    def compare(self, expected: Any, seen: Any) -> Difference | None:
        """None if the number is large enough."""
        return Within(self.minimum, math.inf).compare(expected, seen)


@dataclass(frozen=True)
class Within(_AllOrNothing):
    """One number from `low` to `high`, both included."""

    low: float
    high: float

    def compare(self, expected: Any, seen: Any) -> Difference | None:
        """None if the number is in the band."""
        found = event_difference(expected, seen, ())
        if found is not None:
            return found
        if not is_number(seen):
            return Difference("type", (), expected, seen)
        if self.low <= as_float(seen) <= self.high:
            return None
        band = f"between {self.low:g} and {self.high:g}"
        if math.isinf(self.high):
            band = f"{self.low:g} or more"
        return Difference("band", (), band, seen)


@dataclass(frozen=True)
class Kills:
    """The student's own test, tried on right and wrong versions of a function.

    The observation is a list: did the test accept this version (:meth:`.Draw.accepts`)? It has one
    entry for each name in `versions`. The reference's observation is ignored. The credit is the
    share of the wrong versions that the test rejects, times the share of the right ones that it
    accepts. So one assertion too strict costs its share, and a test that rejects everything earns
    nothing.

    Args:
        versions: for each version its name and whether it is right.
        about: for some right versions, by name, what a student whose test rejects it may know of
            it, such as "works on one row at a time".
    """

    versions: tuple[tuple[str, bool], ...]
    about: tuple[tuple[str, str], ...] = ()

    def compare(self, expected: Any, seen: Any) -> Difference | None:
        """A right version that was rejected, or the wrong ones that were accepted."""
        found = event_difference(None, seen, ())
        if found is not None:
            return found
        answers = self._answers(seen)
        if answers is None:
            return Difference("type", (), [True], seen)
        rejected = [name for name, (right, accepted) in answers.items() if right and not accepted]
        if rejected:
            about = dict(self.about)
            known = [about[name] for name in rejected if name in about]
            rights = sum(right for right, _ in answers.values())
            detail = next(iter(known), "")
            return Difference("rejects right", (), rights, len(rejected), detail)
        accepted = {name: how for name, (right, how) in answers.items() if how and not right}
        if not accepted:
            return None
        wrong = sum(not right for right, _ in answers.values())
        kind = "lets through"
        if RETURNED_FALSE in accepted.values():
            kind = "test returns"
        elif ONLY_PRINTED in accepted.values():
            # What is printed of wrong versions alone is a verdict. So is what is printed if most
            # are accepted, even if torch itself stops at some of the wrong ones.
            silent = all(how != ONLY_PRINTED for right, how in answers.values() if right)
            if silent or 2 * len(accepted) > wrong:
                kind = "test prints"
        return Difference(kind, (), wrong, len(accepted), " ".join(accepted))

    def credit(self, expected: Any, seen: Any) -> float:
        """The share of wrong versions rejected, times the share of right ones accepted."""
        answers = self._answers(seen)
        if answers is None:
            return 0.0
        accepted = [bool(accepts) for right, accepts in answers.values() if right]
        rejected = [not accepts for right, accepts in answers.values() if not right]
        return _share(accepted) * _share(rejected)

    def faults(self, seen: Any) -> tuple[frozenset[str], frozenset[str]] | None:
        """The right versions that the test rejects, and the wrong ones that it accepts."""
        answers = self._answers(seen)
        if answers is None:
            return None
        return (
            frozenset(name for name, (right, accepts) in answers.items() if right and not accepts),
            frozenset(name for name, (right, accepts) in answers.items() if accepts and not right),
        )

    def _answers(self, seen: Any) -> dict[str, tuple[bool, bool | str]] | None:
        well_formed = (
            isinstance(seen, list)
            and len(seen) == len(self.versions)
            and all(
                isinstance(accepted, bool) or accepted in (RETURNED_FALSE, ONLY_PRINTED)
                for accepted in seen
            )
        )
        if not well_formed:
            return None
        return {
            name: (right, accepted)
            for (name, right), accepted in zip(self.versions, seen, strict=True)
        }


def _share(truths: list[bool]) -> float:
    """The share of True; 1 of an empty list."""
    return sum(truths) / len(truths) if truths else 1.0


def _are_counts(value: Tensor) -> bool:
    return value.dtype == torch.int64 and value.ndim > 0


def _are_shapes(path: Path, *values: list[Any]) -> bool:
    """Whether two lists are shapes: whole numbers under a name that contains "shape"."""
    named = any("shape" in part for part in path if isinstance(part, str))
    return named and all(type(size) is int for value in values for size in value)


def event_difference(expected: Any, seen: Any, path: Path) -> Difference | None:
    """The difference if `seen` is an event and not a value, or if an exception was expected.

    An event is an error, a missing name, no answer, or a value that cannot be compared.
    """
    match seen:
        case NoAnswer():
            return Difference("no answer", path, expected, seen)
        case Missing():
            return Difference("missing", path, expected, seen)
        case Raised(type="ForbiddenCallError"):
            return Difference("forbidden", path, expected, seen)
        case Raised():
            return Difference("raised", path, expected, seen)
        case Opaque():
            return Difference("type", path, expected, seen)
        case str() if seen == NO_GRADIENT and expected != NO_GRADIENT:
            return Difference("gradient", path, expected, seen)
        case str() if seen == RETURNED_FALSE and expected is True:
            return Difference("test returns", path, expected, seen)
        case str() if seen == ONLY_PRINTED and expected is True:
            return Difference("test prints", path, expected, seen)
    if isinstance(expected, Raised):
        return Difference("did not raise", path, expected, seen)
    return None
