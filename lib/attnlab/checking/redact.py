"""Removes from advice on hidden checks whatever the student's code chose: words and numbers.

A function that receives a hidden check's inputs can put them into an exception's message, or into
a string or number that it returns. So advice on such a check may contain only fixed sentences,
fixed parts of torch's messages, shapes, and lines that the grader found in the notebook.
"""

from __future__ import annotations

import builtins
import re
from dataclasses import replace
from typing import Any

from torch import Tensor

from attnlab.checking.advice_on_errors import known_part
from attnlab.checking.errors import MISSING_WEIGHT
from attnlab.checking.judges import Difference
from attnlab.checking.observation import (
    KIND_WORDS,
    NO_PART,
    SAVED,
    UNREADABLE,
    Missing,
    Opaque,
    Raised,
    is_number,
)

_TORCH_NAME = re.compile(r"torch(\.\w+){1,4}")
_MOST_NAME = 60
_UNUSUAL_SHAPE = "torch.Tensor, of a very different shape"
_MOST_DIMENSIONS, _MOST_SIZE = 5, 1_000


def redacted(difference: Difference) -> Difference:
    """The same difference without words and numbers that the student's code chose."""
    seen = difference.seen
    match difference.kind, seen:
        case "raised", Raised():
            return replace(difference, seen=_raised(seen, line_is_known=not difference.path))
        case "forbidden", Raised():
            name = seen.message if _TORCH_NAME.fullmatch(seen.message) else "a torch function"
            return replace(difference, seen=replace(seen, message=name))
        case "missing", Missing():
            known = seen.name.removesuffix(SAVED).isidentifier() and len(seen.name) < _MOST_NAME
            name = seen.name if known else "it"
            return replace(difference, seen=replace(seen, name=name))
        case "shape", _ if not _is_usual_shape(seen):
            return replace(difference, kind="type", seen=Opaque(_UNUSUAL_SHAPE))
        case "keys", _:
            asked_for = [key for key in seen if key in difference.expected]
            others = ["others"] if len(asked_for) < len(seen) else []
            return replace(difference, seen=asked_for + others)
        case (("values" | "band"), _) if is_number(seen):
            return replace(difference, kind="number")
        case "values", str() if {seen, difference.expected} <= KIND_WORDS:
            return difference
        case "type", str() if seen in (NO_PART, UNREADABLE):
            return difference
        case "word", _:
            return replace(difference, seen="")
        case _, str() | Opaque():
            return replace(difference, seen=Opaque(_type_of(seen)))
    return difference


def _raised(seen: Raised, line_is_known: bool) -> Raised:
    """Keeps names of Python's own exceptions, and the line if the grader found it."""
    own = getattr(builtins, seen.type, None)
    known = isinstance(own, type) and issubclass(own, BaseException)
    if seen.type == MISSING_WEIGHT:
        return Raised(MISSING_WEIGHT)
    name = seen.type if known else "an exception of its own"
    part = known_part(seen.message)
    return Raised(name, f"… {part}" if part else "", seen.source_line if line_is_known else "")


def _is_usual_shape(seen: Any) -> bool:
    """Whether a shape is small enough not to be a message written in numbers."""
    sizes = list(seen.shape) if isinstance(seen, Tensor) else seen
    return len(sizes) <= _MOST_DIMENSIONS and max(sizes, default=0) < _MOST_SIZE


def _type_of(seen: Any) -> str:
    return "str" if isinstance(seen, str) else "another type"
