"""With rough comparisons, a test accepts numbers that are right but for their last digits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from attnlab.checking.rough_comparisons import RoughComparisons

X = torch.tensor([0.25, 0.75], dtype=torch.float64)


def passes_in_numpy(name: str, *args: Any, **kwargs: Any) -> bool:
    try:
        getattr(np.testing, name)(*args, **kwargs)
    except AssertionError:
        return False
    return True


def in_all_ways(one: torch.Tensor, other: torch.Tensor) -> list[bool]:
    """Whether two tensors are equal, in the ways in which students ask."""
    return [
        torch.equal(one, other),
        bool((one == other).all()),
        not bool((one != other).any()),
        torch.allclose(one, other, rtol=0, atol=1e-15),
        bool(torch.isclose(one, other, rtol=0, atol=1e-15).all()),
        bool((one - other).abs().max() < 1e-12),
        not bool((one - other).abs().max() > 1e-12),
        (one - other).abs().max().item() < 1e-12,
        float((one - other).norm()) < 1e-12,
        one.tolist() == other.tolist(),
        np.allclose(one.numpy(), other, rtol=0, atol=1e-12),
        bool(np.isclose(one, other.numpy(), rtol=0, atol=1e-12).all()),
        np.array_equal(one, other),
        passes_in_numpy("assert_allclose", one, other, rtol=1e-12),
        passes_in_numpy("assert_array_equal", one, other),
        passes_in_numpy("assert_almost_equal", one.numpy(), other.numpy(), 12),
        passes_in_numpy("assert_array_almost_equal", one, other, decimal=12),
    ]


def test_last_digits_are_equal_only_in_the_block() -> None:
    assert not any(in_all_ways(X, X + 1e-8))
    with RoughComparisons():
        assert all(in_all_ways(X, X + 1e-8))
    assert not any(in_all_ways(X, X + 1e-8))


def test_what_is_no_pair_of_numbers_is_compared_as_ever() -> None:
    complex_numbers = X + 1j * torch.tensor([0, 1e-3])
    with RoughComparisons():
        assert X not in [None]
        assert (X == "a") is False
        assert bool((complex_numbers == X)[0])
        assert not bool((complex_numbers == X)[1])
        assert np.allclose(a=X, b=X)
        assert np.array_equal(["a"], ["a"])
        assert not np.array_equal(["a"], ["b"])
        np.testing.assert_allclose(actual=X, desired=X)
        with pytest.raises(AssertionError):
            np.testing.assert_array_equal(["a"], ["b"])


def test_a_rounded_constant_is_another_number() -> None:
    with RoughComparisons():
        assert not any(in_all_ways(X, X + 6e-5))
        assert not torch.equal(X, X[:1])
        assert not np.array_equal(X, X[:1])
        assert (X < 0.5).tolist() == [True, False], "other limits are kept"


@pytest.mark.parametrize(("nan_equal", "error"), [(True, 0.0), (False, 0.0), (True, 0.1)])
def test_nan_is_equal_on_request_and_hides_no_other_difference(
    nan_equal: bool, error: float
) -> None:
    one = torch.tensor([0.25, torch.nan, 0.5])
    other = torch.tensor([0.25 + error, torch.nan, 0.5])
    with RoughComparisons(nan_equal):
        ways = [
            torch.allclose(one, other),
            bool((one - other).abs().max() < 1e-9),
            bool((one - other).abs().sum() < 1e-9),
            bool(torch.nn.functional.mse_loss(one, other) < 1e-9),
        ]
    assert ways == [nan_equal and not error] * 4
