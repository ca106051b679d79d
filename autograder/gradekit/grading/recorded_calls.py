"""What a check asks: the calls that its probe makes, recorded while it runs on the reference.

The reference gets the inputs that the student's code got, because both are drawn from one seed. So
nothing that the student's process says is needed to know them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

from attnlab.checking.draw import Draw
from attnlab.checking.sizes import Size, special_sizes
from gradekit.grading.value_text import value_text

if TYPE_CHECKING:
    from collections.abc import Iterator

# Probes that train call a function hundreds of times. Nobody reads more than the first few.
MOST_CALLS = 40


@dataclass(frozen=True)
class Call:
    """One call of a function or a method that students write.

    Attributes:
        function: its name; of a method, with its class.
        arguments: names and values, as text that was made before the call: it may change them.
        case: the case of a check that asks at several sizes, such as "T = 1"; else empty.
        result: what the reference returned.
    """

    function: str
    arguments: tuple[tuple[str, str], ...]
    case: str
    result: Any


class Recorder:
    """Records the calls of one probe.

    Attributes:
        calls: the first ones of each case, in their order.
        left_out: the number of the others.
    """

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.left_out = 0
        self._case = ""
        self._is_inside = False

    def watched(self, names: Mapping[str, Any]) -> dict[str, Any]:
        """The same names; those of functions and classes record their calls."""
        return {name: self._watched(name, value) for name, value in names.items()}

    def draw(self, seed: int, versions: Sequence[Callable[..., Any]] = ()) -> Draw:
        """Draws the same inputs as :class:`Draw`, and notes the case that is asked."""
        return _CaseDraw(self, seed, versions)

    @contextmanager
    def case(self, name: str) -> Iterator[None]:
        """In this block, calls belong to this case."""
        before, self._case = self._case, name
        try:
            yield
        finally:
            self._case = before

    def _watched(self, name: str, value: Any) -> Any:
        if inspect.isclass(value):
            return self._watched_class(value)
        return self._watched_function(name, value) if inspect.isfunction(value) else value

    def _watched_class(self, cls: type) -> type:
        """A subclass that records how objects are made and what their methods are given."""
        methods = {
            name: self._watched_function(f"{cls.__name__}.{name}", function, is_method=True)
            for name, function in inspect.getmembers(cls, inspect.isfunction)
            if name == "__init__" or (not name.startswith("_") and _is_own(function))
        }
        own = {"__module__": cls.__module__, "__qualname__": cls.__qualname__}
        return type(cls)(cls.__name__, (cls,), {**own, **methods})

    def _watched_function(
        self, name: str, function: Callable[..., Any], is_method: bool = False
    ) -> Callable[..., Any]:
        @wraps(function)
        def recorded(*args: Any, **kwargs: Any) -> Any:
            if self._is_inside:  # a call by the reference itself
                return function(*args, **kwargs)
            arguments = _arguments(function, args, kwargs, is_method)
            self._is_inside = True
            result = None
            try:
                result = function(*args, **kwargs)
                return result
            finally:
                self._is_inside = False
                self._add(Call(name.removesuffix(".__init__"), arguments, self._case, result))

        return recorded

    def _add(self, call: Call) -> None:
        if sum(other.case == call.case for other in self.calls) < MOST_CALLS:
            self.calls.append(call)
        else:
            self.left_out += 1


class _CaseDraw(Draw):
    """Tells the recorder which of several sizes is asked."""

    def __init__(
        self, recorder: Recorder, seed: int, versions: Sequence[Callable[..., Any]]
    ) -> None:
        super().__init__(seed, versions)
        self._recorder = recorder

    def each_size(
        self, ask: Callable[..., Any], *, may_be_empty: Sequence[str] = (), **axes: Size
    ) -> dict[str, Any]:
        cases = iter([name for name, _ in special_sizes(axes, may_be_empty)])

        def asked(**sizes: Any) -> Any:
            with self._recorder.case(next(cases)):
                return ask(**sizes)

        return super().each_size(asked, may_be_empty=may_be_empty, **axes)


def _is_own(function: Callable[..., Any]) -> bool:
    """Whether a method is written in the library, and not inherited from torch."""
    return function.__module__.startswith("attnlab")


def _arguments(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], is_method: bool
) -> tuple[tuple[str, str], ...]:
    bound = inspect.signature(function).bind(*args, **kwargs)
    given = list(bound.arguments.items())[is_method:]
    return tuple((name, value_text(value)) for name, value in given)
