"""What may be said of a hidden check: nothing that the student's code chose to say.

A function that is asked a hidden question can put its inputs into an exception's message, a string
or a number that it returns. What is said about such a check is therefore made of our words, the
shape of things, and lines that the judge found in the notebook.
"""

from __future__ import annotations

import builtins
import re
from dataclasses import replace
from typing import Any

from torch import Tensor

from attnlab.checking.judges import Difference
from attnlab.checking.observation import SAVED, Missing, Opaque, Raised, is_number

_TORCH_NAME = re.compile(r"torch(\.\w+){1,4}")
_MOST_NAME = 60
_FAR_SHAPE = "torch.Tensor, of quite another shape"
_MOST_DIMENSIONS, _MOST_SIZE = 6, 100_000


def discreet(difference: Difference) -> Difference:
    """The same difference without the words and numbers of the student's code."""
    seen = difference.seen
    match difference.kind, seen:
        case "raised", Raised():
            return replace(difference, seen=_raised(seen, vouched=not difference.path))
        case "forbidden", Raised():
            name = seen.message if _TORCH_NAME.fullmatch(seen.message) else "a torch function"
            return replace(difference, seen=replace(seen, message=name))
        case "missing", Missing():
            plain = seen.name.removesuffix(SAVED).isidentifier() and len(seen.name) < _MOST_NAME
            name = seen.name if plain else "it"
            return replace(difference, seen=replace(seen, name=name))
        case "shape", _ if not _plain(seen):
            return replace(difference, kind="type", seen=Opaque(_FAR_SHAPE))
        case "keys", _:
            return replace(difference, seen=["others"])
        case (("values" | "band"), _) if is_number(seen):
            return replace(difference, kind="number")
        case _, str() | Opaque():
            return replace(difference, seen=Opaque(_type_of(seen)))
    return difference


def _raised(seen: Raised, vouched: bool) -> Raised:
    """Only Python's own names of exceptions, and the line where the judge knows it."""
    own = getattr(builtins, seen.type, None)
    known = isinstance(own, type) and issubclass(own, BaseException)
    name = seen.type if known else "an exception of its own"
    return Raised(name, "", seen.source_line if vouched else "")


def _plain(seen: Any) -> bool:
    """Whether a shape is one that code for people has, and no message written in numbers."""
    sizes = list(seen.shape) if isinstance(seen, Tensor) else seen
    return len(sizes) <= _MOST_DIMENSIONS and max(sizes, default=0) < _MOST_SIZE


def _type_of(seen: Any) -> str:
    return "str" if isinstance(seen, str) else "another type"
