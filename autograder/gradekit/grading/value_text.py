"""A value of a check as text for staff: numbers with their type and shape, on lines of 72 columns.

The values of a student's process arrive as observations, whose text is whatever the student's code
wrote: a terminal must show it escaped.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from attnlab.checking.observation import Missing, NoAnswer, Opaque, Raised, clip, dtype_of

WIDTH = 72
MOST_NUMBERS, MOST_ITEMS, MOST_LINES, MOST_LETTERS = 60, 8, 24, 600


def value_text(value: Any, digits: int = 4) -> str:
    """The value in lines; long ones are shortened.

    Args:
        digits: decimal places of the numbers in tensors.
    """
    lines = _text(value, digits).splitlines()
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], f"… and {len(lines) - MOST_LINES} more lines"]
    return "\n".join(lines)


def _text(value: Any, digits: int) -> str:
    match value:
        case Tensor():
            return _tensor(value, digits)
        case Raised():
            message = f": {value.message}" if value.message else ""
            return f"{value.type}{message}"
        case Missing():
            return f"no {value.name}"
        case NoAnswer():
            return f"no answer: {value.reason}"
        case Opaque():
            return f"an object of type {value.type}"
        case nn.Module():
            numbers = sum(parameter.numel() for parameter in value.parameters())
            return f"a {type(value).__name__} with {numbers:,} parameters"
        case Mapping():
            return _items([(f"{key}: ", item) for key, item in value.items()], digits)
        case list() | tuple() if any(isinstance(item, Tensor) for item in value):
            return _items([(f"{place}: ", item) for place, item in enumerate(value)], digits)
        case _ if callable(value):
            return f"the function {getattr(value, '__name__', type(value).__name__)}"
        case _:
            return clip(repr(value), MOST_LETTERS)


def _tensor(value: Tensor, digits: int) -> str:
    if value.layout != torch.strided:
        return f"a {value.layout} tensor of shape {tuple(value.shape)}"
    plain = value.float() if value.dtype == torch.bfloat16 else value  # which numpy does not know
    numbers = plain.numpy(force=True)
    shown = np.array2string(
        numbers,
        max_line_width=WIDTH,
        precision=digits,
        suppress_small=True,
        threshold=MOST_NUMBERS,
        edgeitems=2,
    )
    if value.ndim == 0:
        return f"{shown} ({dtype_of(value)})"
    return f"{dtype_of(value)} of shape {tuple(value.shape)}\n{shown}"


def _items(items: list[tuple[str, Any]], digits: int) -> str:
    lines = []
    for name, item in items[:MOST_ITEMS]:
        first, *rest = _text(item, digits).splitlines() or [""]
        lines += [f"{name}{first}", *(f"  {line}" for line in rest)]
    if len(items) > MOST_ITEMS:
        lines.append(f"… and {len(items) - MOST_ITEMS} more")
    return "\n".join(lines) or "nothing"
