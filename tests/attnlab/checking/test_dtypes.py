"""A default dtype for one call."""

import pytest
import torch

from attnlab.checking.dtypes import under_default_dtype


def test_the_default_holds_for_the_call_and_not_longer() -> None:
    assert under_default_dtype(torch.float64, torch.zeros, 2).dtype == torch.float64
    assert torch.zeros(2).dtype == torch.float32


def test_an_error_restores_the_default() -> None:
    with pytest.raises(ZeroDivisionError):
        under_default_dtype(torch.float64, lambda: 1 / 0)
    assert torch.zeros(2).dtype == torch.float32
