"""Makes the inputs of a probe from a seed, the same inputs on every machine.

The grader runs each probe twice, in two processes: once on the student's code and once on the
reference. Both runs make the same inputs because both start from the same seed.
"""

from __future__ import annotations

import contextlib
import io
import random
import traceback
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnlab.checking.errors import ForbiddenCallError, MissingFileError, MissingNameError
from attnlab.checking.lost_failures import lost_failure, printed_anyway
from attnlab.checking.observation import Raised
from attnlab.checking.raised import raised_by
from attnlab.checking.sizes import Size, special_sizes

# Errors that end a probe, or that say nothing about the code that was asked.
_PASS_THROUGH = (
    MissingNameError,
    MissingFileError,
    ForbiddenCallError,
    NameError,
    KeyboardInterrupt,
)
NO_GRADIENT = "no gradient"
# What a student's test did with a version if it raised nothing, but seems to mean a rejection.
RETURNED_FALSE = "returned False"
ONLY_PRINTED = "only printed"


class Draw:
    """A source of inputs. Tensors are float64 by default.

    Args:
        seed: makes the inputs; equal seeds make equal inputs.
        versions: versions of a function on which the student's own test is tried. Some are right
            and some are wrong, in an order that only the judge knows.
    """

    def __init__(self, seed: int, versions: Sequence[Callable[..., Any]] = ()) -> None:
        self.versions = tuple(versions)
        self._generator = torch.Generator().manual_seed(seed)
        self._given: list[tuple[Tensor, Tensor]] = []

    def normal(self, *shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
        """Standard normal numbers of the given shape."""
        return self._give(torch.randn(shape, generator=self._generator, dtype=torch.float64), dtype)

    def uniform(
        self, *shape: int, low: float = 0.0, high: float = 1.0, dtype: torch.dtype = torch.float64
    ) -> Tensor:
        """Numbers spread evenly over [low, high)."""
        unit = torch.rand(shape, generator=self._generator, dtype=torch.float64)
        return self._give(low + (high - low) * unit, dtype)

    def integers(self, low: int, high: int, *shape: int) -> Tensor:
        """Whole numbers from `low` to `high` - 1 (int64)."""
        return self._give(torch.randint(low, high, shape, generator=self._generator), torch.int64)

    def choice(self, values: Sequence[float], *shape: int) -> Tensor:
        """Entries picked at random from `values`, of the given shape."""
        picks = torch.randint(0, len(values), shape, generator=self._generator)
        return self._give(torch.tensor(values, dtype=torch.float64)[picks], torch.float64)

    def permutation(self, n: int) -> Tensor:
        """A random order of 0 … n-1 that is not the identity and not its own inverse (n > 2)."""
        while True:
            order = torch.randperm(n, generator=self._generator)
            if n <= 2 or not torch.equal(order[order], torch.arange(n)):
                return self._give(order, torch.int64)

    def generator(self) -> torch.Generator:
        """A new generator for code that takes one; each call returns a different one."""
        seed = int(torch.randint(0, 2**31, (1,), generator=self._generator))
        return torch.Generator().manual_seed(seed)

    def strided(self, tensor: Tensor) -> Tensor:
        """The same numbers in another memory layout: the axes in reverse order, with gaps.

        No two axes can be joined by `.view` there.
        """
        memory = torch.empty(*reversed(tensor.shape), 2, dtype=tensor.dtype)
        spread = memory[..., 0].permute(tuple(reversed(range(tensor.ndim))))
        return self._give(spread.copy_(tensor), tensor.dtype)

    def raises(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Raised | None:
        """The type of the exception that `function` raises, or None if it raises nothing.

        Raises:
            NameError, KeyboardInterrupt and the errors that end a probe: they pass through.
        """
        error = _error_of(lambda: function(*args, **kwargs))
        return None if error is None else Raised(type(error).__name__)

    def each_size(
        self, ask: Callable[..., Any], *, may_be_empty: Sequence[str] = (), **axes: Size
    ) -> dict[str, Any]:
        """The same question at the usual sizes and at each special one (:mod:`.sizes`).

            draw.each_size(
                lambda batch, T, d: lab.encode(draw.normal(*batch, T, d)), batch=(2,), T=5, d=7
            )

        asks at T = 1, at d = 1, at batch = (1,), with all axes equal, with two batch axes and with
        none. An exception is the observation of its own size and does not end the others.

        Args:
            ask: called with one size per axis, by name; returns an observation.
            may_be_empty: axes that the task allows to have length 0.
            axes: the usual size of each axis, 2 or more, all different. A tuple stands for the
                "..." of a shape: any number of axes.

        Raises:
            ValueError: a usual size is below 2, or `may_be_empty` names no axis.
            NameError, KeyboardInterrupt and the errors that end a probe: they pass through.
        """
        seen = {}
        for name, sizes in special_sizes(axes, may_be_empty):
            try:
                seen[name] = ask(**sizes)
            except _PASS_THROUGH:
                raise
            except Exception as error:  # what the student's code raises is the observation
                seen[name] = raised_by(error)
        return seen

    def gradients(self, function: Callable[..., Any], *inputs: Tensor) -> Any:
        """The gradient of a random weighted sum of `function`'s output, for each float input.

        If the output does not depend on an input through torch's graph (because it was detached or
        computed in numpy), that entry is the string ``"no gradient"``. An output that is not a
        tensor is returned unchanged.
        """
        leaves = [x.detach().clone().requires_grad_(x.is_floating_point()) for x in inputs]
        out = function(*leaves)
        if not isinstance(out, Tensor):
            return out
        weights = torch.randn(out.shape, generator=self._generator, dtype=torch.float64)
        wanted = [leaf for leaf in leaves if leaf.requires_grad]
        if not out.requires_grad:
            return [NO_GRADIENT] * len(wanted)
        grads = torch.autograd.grad((out * weights.to(out.dtype)).sum(), wanted, allow_unused=True)
        return [NO_GRADIENT if grad is None else grad for grad in grads]

    def untouched(self) -> bool:
        """Whether no tensor that this object returned has been changed since.

        It knows only these tensors, and not copies of them: `draw.normal(5, 7).float()` is a copy,
        so write `draw.normal(5, 7, dtype=torch.float32)`.
        """
        return all(_equal(now, then) for now, then in self._given)

    def rejects(self, test: Callable[..., Any], version: Callable[..., Any]) -> bool | str:
        """Whether the student's `test` rejects `version`: it raises.

        A test that raises nothing accepts the version. If it returned False, or printed something
        that it does not print in any case, its author probably meant a rejection: then the result
        is :data:`RETURNED_FALSE` or :data:`ONLY_PRINTED` instead of False.
        """
        returned: list[Any] = []
        printed = _Written(printed_anyway(test))
        with contextlib.redirect_stdout(printed):
            raised = self.raises(lambda: returned.append(test(version)))
        if raised is not None:
            return True
        if _is_false(returned[0]):
            return RETURNED_FALSE
        return ONLY_PRINTED if printed.anything else False

    def lost_failure(self, test: Callable[..., Any], zeros: Callable[..., Any]) -> str:
        """How the student's `test` loses the failure of a comparison, as a word of a known set.

        Args:
            test: the test (see :mod:`attnlab.checking.lost_failures`).
            zeros: a version that is obviously wrong: it answers zeros.
        """

        def rejects_errors() -> bool:
            try:
                return self.rejects(test, only_raises) is True
            except NameError:  # other checks ask about an unknown name
                return True

        return lost_failure(test, lambda: self.rejects(test, zeros) is True, rejects_errors)

    def accepted(self, test: Callable[..., Any], version: Callable[..., Any]) -> Raised | bool:
        """True if the student's `test` accepts `version`; else what it raises, and in which line.

        For versions that students may see: a hidden one may raise words of its own. The line is one
        of the cell that defines the test, even if the version raised the exception.

        Raises:
            NameError, KeyboardInterrupt and the errors that end a probe: they pass through.
        """
        error = _error_of(lambda: test(version))
        if error is None:
            return True
        error = _before_an_except(error)
        return raised_by(error, _code_outside(test, error))

    def accepts(self, test: Callable[..., Any]) -> list[bool | str]:
        """For each version: True if the student's `test` accepts it, False if it raises.

        For a version that it accepts with a sign of a rejection, see :meth:`rejects`.
        """
        rejected = [self.rejects(test, version) for version in self.versions]
        return [not answer if isinstance(answer, bool) else answer for answer in rejected]

    def _give(self, tensor: Tensor, dtype: torch.dtype) -> Tensor:
        given = tensor.to(dtype)
        self._given.append((given, given.clone()))
        return given


def only_raises(*args: Any, **kwargs: Any) -> None:
    """A version of any step, for a student's test, that has no results."""
    raise ValueError("this version only raises an error")


def _error_of(call: Callable[[], Any]) -> BaseException | None:
    """What the student's code raises; errors that end a probe pass through."""
    try:
        call()
    except UnboundLocalError as error:  # a name that is defined somewhere, unlike other NameErrors
        return error
    except _PASS_THROUGH:
        raise
    except BaseException as error:  # pytest.fail() raises one that is not an Exception
        return error
    return None


def _before_an_except(error: BaseException) -> BaseException:
    """The error that the student's `except` has caught if a `raise` there makes `error` of it."""
    *_, last = traceback.extract_tb(error.__traceback__)
    raised = error.__context__ is not None and str(last.line).startswith("raise")
    return error.__context__ or error if raised else error


def _code_outside(test: Callable[..., Any], error: BaseException) -> list[CodeType]:
    """The code on the way to `error` that the cell of the student's `test` does not define."""
    cell = getattr(getattr(test, "__code__", None), "co_filename", None)
    codes = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]
    return [code for code in codes if code.co_filename != cell]


class _Written(io.TextIOBase):
    """A stream that keeps nothing but whether something was written, other than these texts."""

    def __init__(self, other_than: frozenset[str]) -> None:
        super().__init__()
        self.anything = False
        self._other_than = other_than | {""}

    def write(self, text: str) -> int:
        self.anything = self.anything or text.strip() not in self._other_than
        return len(text)


def _is_false(value: Any) -> bool:
    """Whether a test returned the truth value False: Python's, numpy's or torch's."""
    if isinstance(value, Tensor):
        return value.dtype == torch.bool and value.numel() == 1 and not bool(value)
    return isinstance(value, (bool, np.bool_)) and not value


def _equal(now: Tensor, then: Tensor) -> bool:
    """Whether two tensors are equal; NaN equals NaN here."""
    if now.shape != then.shape or now.dtype != then.dtype:
        return False
    return bool(((now == then) | (now.isnan() & then.isnan())).all())


def seed_everything(seed: int) -> None:
    """Seed the three random number generators that labs use."""
    random.seed(seed)
    np.random.seed(seed % 2**32)
    # torch.manual_seed also seeds every kind of GPU, which takes longer than most probes.
    torch.default_generator.manual_seed(seed)
