"""Is what was seen as good as what was expected, and if not, where and how does it differ?

A judge is a small frozen value with one method, ``compare(expected, seen)``, that returns None or
the first :class:`Difference`. The ladder of differences runs from the coarse to the fine: missing,
raised, wrong type, shape, NaN or infinity, values; so a student hears of the wrong shape before
they hear of the wrong numbers in it.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from attnlab.checking.draw import NO_GRADIENT
from attnlab.checking.observation import Missing, NoAnswer, Opaque, Raised, as_float, is_number

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Difference:
    """Where two observations part.

    Attributes:
        kind: the rung of the ladder: missing, raised, forbidden, type, length, shape, dtype, nan,
            gradient, values, or a kind that a judge names.
        path: the way from the top of the observation to the place.
        expected: the value there in the reference's observation.
        seen: the value there in the student's.
        detail: what a judge has to say beyond the two values.
        wrong: the entries that differ beyond the tolerance, where two tensors of one shape do.
    """

    kind: str
    path: Path = ()
    expected: Any = None
    seen: Any = None
    detail: str = ""
    wrong: Tensor | None = None


class Judge(Protocol):
    """What a check is judged by."""

    def compare(self, expected: Any, seen: Any) -> Difference | None:
        """The first difference, or None where `seen` is as good as `expected`."""

    def credit(self, expected: Any, seen: Any) -> float:
        """The share of the check's points that `seen` earns, from 0 to 1."""


class _AllOrNothing:
    """A judge that gives a check's points whole or not at all."""

    def compare(self, expected: Any, seen: Any) -> Difference | None:
        raise NotImplementedError

    def credit(self, expected: Any, seen: Any) -> float:
        return float(self.compare(expected, seen) is None)


@dataclass(frozen=True)
class Close(_AllOrNothing):
    """Equal, and numbers equal to within ``atol + rtol * |expected|``, compared in float64.

    Where the reference's own numbers have less precision than float64, the tolerance is widened
    to that precision. Numbers, strings, lists, shapes and news must agree exactly; the dtype of a
    tensor is not compared (a check for which it is the point returns it by name).
    """

    atol: float = 1e-9
    rtol: float = 1e-9

    def compare(self, expected: Any, seen: Any) -> Difference | None:
        """The first place where the two trees differ."""
        return self._compare(expected, seen, ())

    def _compare(self, expected: Any, seen: Any, path: Path) -> Difference | None:
        if isinstance(expected, Raised) and isinstance(seen, Raised):
            if expected.type == seen.type:
                return None
            return Difference("raised", path, expected, seen)
        found = news(expected, seen, path)
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
        return None if expected == seen else Difference("values", path, expected, seen)

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
        atol, rtol = self._tolerance(expected)
        # Infinity is close to itself alone, though every distance from it is within rtol of it.
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
        atol, rtol = self._tolerance(expected)
        wrong = ~torch.isclose(theirs, right, atol=atol, rtol=rtol, equal_nan=True)
        if not bool(wrong.any()):
            return None
        strange = wrong & (theirs.isnan() | (theirs.isinf() & right.isfinite()))
        kind = "nan" if bool(strange.any()) else "values"
        return Difference(kind, path, expected, seen, wrong=wrong)

    def _tolerance(self, expected: Any) -> tuple[float, float]:
        if isinstance(expected, Tensor) and expected.is_floating_point():
            precision = 16 * torch.finfo(expected.dtype).eps
            return max(self.atol, precision), max(self.rtol, precision)
        return self.atol, self.rtol


@dataclass(frozen=True)
class AtLeast(_AllOrNothing):
    """One number that may not be smaller than `minimum`."""

    minimum: float

    def compare(self, expected: Any, seen: Any) -> Difference | None:
        """None where the number is large enough."""
        return Within(self.minimum, math.inf).compare(expected, seen)


@dataclass(frozen=True)
class Within(_AllOrNothing):
    """One number from `low` to `high`, both included."""

    low: float
    high: float

    def compare(self, expected: Any, seen: Any) -> Difference | None:
        """None where the number lies in the band."""
        found = news(expected, seen, ())
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
    """A test that the student wrote, tried on versions of a function that are right or wrong.

    The observation is a list of booleans, "did the test accept this version?", one for each name
    in `suspects`; the reference's observation is not looked at. Credit is the share of the wrong
    versions that the test rejects, and nothing if it rejects a right one.

    Args:
        suspects: for each version its name and whether it is right.
    """

    suspects: tuple[tuple[str, bool], ...]

    def compare(self, expected: Any, seen: Any) -> Difference | None:
        """The right version that was rejected, or the wrong ones that were accepted."""
        found = news(None, seen, ())
        if found is not None:
            return found
        answers = self._answers(seen)
        if answers is None:
            return Difference("type", (), [True], seen)
        if any(right and not accepted for right, accepted in answers.values()):
            return Difference("rejects right", (), detail="a correct version")
        accepted = [name for name, (right, accepts) in answers.items() if accepts and not right]
        if not accepted:
            return None
        return Difference("lets through", (), len(self._wrong), len(accepted), accepted[0])

    def credit(self, expected: Any, seen: Any) -> float:
        """The share of wrong versions killed; 0 where a right version is rejected."""
        difference = self.compare(expected, seen)
        if difference is None:
            return 1.0
        if difference.kind != "lets through":
            return 0.0
        return 1.0 - difference.seen / difference.expected

    @property
    def _wrong(self) -> list[str]:
        return [name for name, right in self.suspects if not right]

    def _answers(self, seen: Any) -> dict[str, tuple[bool, bool]] | None:
        well_formed = (
            isinstance(seen, list)
            and len(seen) == len(self.suspects)
            and all(isinstance(accepted, bool) for accepted in seen)
        )
        if not well_formed:
            return None
        return {
            name: (right, accepted)
            for (name, right), accepted in zip(self.suspects, seen, strict=True)
        }


JUDGES = {kind.__name__: kind for kind in (Close, AtLeast, Within, Kills)}


def judge_to_json(judge: Any) -> dict[str, Any]:
    """A judge as JSON; :func:`judge_from_json` reads it back."""
    return {"judge": type(judge).__name__, **asdict(judge)}


def judge_from_json(fields: dict[str, Any]) -> Judge:
    """The judge that :func:`judge_to_json` wrote."""
    fields = dict(fields)
    kind: Any = JUDGES[fields.pop("judge")]
    if kind is Kills:
        fields["suspects"] = tuple((name, right) for name, right in fields["suspects"])
    judge: Judge = kind(**fields)
    return judge


def _are_shapes(path: Path, *values: list[Any]) -> bool:
    """Whether two lists are shapes that a check returns as such, under a name that says so."""
    named = any("shape" in part for part in path if isinstance(part, str))
    return named and all(type(size) is int for value in values for size in value)


def news(expected: Any, seen: Any, path: Path) -> Difference | None:
    """The difference if `seen` is news rather than a value, or a value where news was due."""
    match seen:
        case NoAnswer():
            return Difference("silence", path, expected, seen)
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
    if isinstance(expected, Raised):
        return Difference("did not raise", path, expected, seen)
    return None
