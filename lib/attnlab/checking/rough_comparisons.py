"""Runs a student's test with rougher comparisons, to see whether only the last digits differ.

Tested in ``test_rough_comparisons.py``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

# Right numbers in float32 differ by less, and constants rounded by hand by more.
LIMIT, PLACES = 1e-6, 6
# Names of functions that make one number of all differences.
_OF_ALL = ("max", "amax", "sum", "mean", "norm", "linalg_norm", "linalg_vector_norm")
# What leaves torch is compared by Python.
_OUT_OF_TORCH = (Tensor.item, Tensor.__float__, Tensor.tolist)
_OF_NUMPY = (
    *((np, name) for name in ("allclose", "isclose", "array_equal")),
    *(
        (np.testing, f"assert_{name}")
        for name in ("allclose", "array_equal", "almost_equal", "array_almost_equal")
    ),
)
_OF_ALL_PAIRS = ("mse_loss", "l1_loss", "dist")


def _is_real(value: Any) -> bool:
    """Whether this is a real number, or a tensor of them."""
    return not value.is_complex() if isinstance(value, Tensor) else isinstance(value, (int, float))


class RoughComparisons(TorchFunctionMode):
    """In this block, floating numbers are compared only as exactly as float32 allows.

    Args:
        nan_equal: NaN is equal to every number, and does not hide the other differences.
    """

    def __init__(self, nan_equal: bool = False) -> None:
        super().__init__()
        self.nan_equal = nan_equal

    def __enter__(self) -> RoughComparisons:
        """Make NumPy's comparisons rough, too."""
        self._exact = {(module, name): getattr(module, name) for module, name in _OF_NUMPY}
        for (module, name), exact in self._exact.items():
            setattr(module, name, self._in_numpy(name, exact))
        super().__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        """Give NumPy its own comparisons back."""
        super().__exit__(*error)
        for (module, name), exact in self._exact.items():
            setattr(module, name, exact)

    def _in_numpy(self, name: str, exact: Callable[..., Any]) -> Callable[..., Any]:
        def compare(*args: Any, **kwargs: Any) -> Any:
            with contextlib.suppress(TypeError):  # these are no numbers, or are given by name
                return self._rough_in_numpy(name, *args[:2])
            return exact(*args, **kwargs)

        return compare

    def _rough_in_numpy(self, name: str, one: Any, other: Any) -> Any:
        limits = {"rtol": 1e-5, "atol": LIMIT, "equal_nan": self.nan_equal}
        if name.startswith("assert_"):
            return self._exact[np.testing, "assert_allclose"](one, other, **limits)
        if name == "array_equal" and np.shape(one) != np.shape(other):
            return False
        close = self._exact[np, "isclose"](one, other, **limits)
        return close if name == "isclose" else bool(close.all())

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """A comparison's rough result, or what the function returns."""
        name = getattr(function, "__name__", "").strip("_")
        kwargs, pair = kwargs or {}, args[:2]
        if function in _OUT_OF_TORCH and pair[0].is_floating_point():
            return function(pair[0].double().round(decimals=PLACES), *args[1:], **kwargs)
        floating = any(isinstance(x, Tensor) and x.is_floating_point() for x in pair)
        of_all = name in _OF_ALL and len(args) == 1 and kwargs.get("dim") is None
        if self.nan_equal and floating and (of_all or name in _OF_ALL_PAIRS):
            pair = torch.broadcast_tensors(*pair)
            nan = sum(pair).isnan()
            return function(*(x.masked_fill(nan, 0) for x in pair), *args[2:], **kwargs)
        if not floating or len(pair) < 2 or not all(map(_is_real, pair)):
            return function(*args, **kwargs)
        if name in ("allclose", "isclose"):
            close = self._near(*pair)
            return bool(close.all()) if name == "allclose" else close
        if name in ("equal", "eq", "ne"):
            one, other = (torch.as_tensor(x).double() for x in pair)
            if name == "equal" and one.shape != other.shape:
                return False
            close = self._near(one, other)
            return bool(close.all()) if name == "equal" else close == (name == "eq")
        if name in ("lt", "le", "gt", "ge") and isinstance(pair[1], float) and 0 < pair[1] < LIMIT:
            below = (pair[0] < LIMIT) | (pair[0].isnan() & self.nan_equal)
            return below == (name in ("lt", "le"))
        return function(*args, **kwargs)

    def _near(self, one: Tensor, other: Tensor) -> Tensor:
        return torch.isclose(one, other, rtol=1e-5, atol=LIMIT, equal_nan=self.nan_equal)
