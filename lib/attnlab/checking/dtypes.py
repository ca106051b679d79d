"""Runs code under another default dtype of torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


def under_default_dtype(dtype: torch.dtype, function: Callable[..., Any], *args: Any) -> Any:
    """The result of ``function(*args)`` while `dtype` is torch's default dtype."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        return function(*args)
    finally:
        torch.set_default_dtype(before)
