"""An observation is what a probe returned, as plain values; here they become bytes and back.

An observation is a tree of lists and dictionaries. Its leaves are tensors, numbers, strings,
booleans, ``None`` and three kinds of event: :class:`Raised`, :class:`Missing`, :class:`Opaque`.

The bytes are one safetensors file, so no pickle is needed: the tensors are stored as they are, and
the tree is JSON in the file's metadata. The untrusted process replies in this format, and the file
of visible checks in a student's bundle has it, too. ``unpack`` treats its input as hostile: for any
bytes, it returns a tree within the limits or raises :class:`ObservationError`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

MAX_TEXT = 4_000
MAX_INT = 2**63
MAX_DIMENSIONS = 32
# Bytes of the header: a name, a dtype, two offsets and the sizes of MAX_DIMENSIONS axes.
_MOST_ABOUT_A_TENSOR = 1_000
# File names of weights end like this.
SAVED = ".safetensors"
# Dtypes that compare in the same way on every machine; tensors of other dtypes become Opaque.
DTYPES = frozenset(
    {
        torch.float64,
        torch.float32,
        torch.float16,
        torch.bfloat16,
        torch.bool,
        torch.int64,
        torch.int32,
        torch.int16,
        torch.int8,
        torch.uint8,
    }
)


@dataclass(frozen=True)
class PackLimits:
    """How large the packed form of a tree may be.

    Attributes:
        size: bytes in total.
        header: bytes of the JSON part (parsing it takes many times its size in memory).
        nodes: values in the tree.
        depth: levels of nesting.
        text: characters per string; longer strings are clipped.
    """

    size: int = 32 * 2**20
    header: int = 4 * 2**20
    nodes: int = 20_000
    depth: int = 12
    text: int = MAX_TEXT


LIMITS = PackLimits()


class ObservationError(ValueError):
    """The bytes are not an observation, or exceed a limit. The message says which."""


@dataclass(frozen=True)
class Raised:
    """The student's code raised an exception.

    Attributes:
        type: the exception's type.
        message: the first line of its message.
        source_line: the student's line that raised it; empty if unknown.
    """

    type: str
    message: str = ""
    source_line: str = ""


@dataclass(frozen=True)
class Missing:
    """The notebook does not define this name, or there is no such file next to it.

    Attributes:
        name: the name or the file's name.
        stopped: what ended the cell that should define it, if the judge knows; it is not packed.
    """

    name: str
    stopped: str = ""


@dataclass(frozen=True)
class Opaque:
    """A value of any other type. Only the name of its type is kept."""

    type: str


@dataclass(frozen=True)
class NoAnswer:
    """There was no answer, for this reason. Only the grader makes it; it is not packed."""

    reason: str


def clip(text: str, limit: int = MAX_TEXT) -> str:
    """Cut `text` to `limit` characters; the last one is an ellipsis if something was cut.

    Half a character (a lone surrogate) becomes "?", because files and pages cannot contain it.
    """
    short = text if len(text) <= limit else text[: limit - 1] + "…"
    return short.encode("utf-8", "replace").decode()


def pack(value: Any, limits: PackLimits = LIMITS) -> bytes:
    """`value` as bytes; values of other types become :class:`Opaque`.

    Raises:
        ObservationError: the value exceeds a limit.
    """
    tensors: dict[str, torch.Tensor] = {}
    tree = _Writer(limits, tensors).encode(value, depth=0)
    data = save(tensors, metadata={"tree": json.dumps(tree)})
    _check_size(data, limits)
    return data


def unpack(data: bytes, limits: PackLimits = LIMITS) -> Any:
    """The value that :func:`pack` wrote, from bytes that are not trusted.

    Raises:
        ObservationError: the bytes are not an observation, or exceed a limit.
    """
    header_length = _check_size(data, limits)
    try:
        tree = json.loads(json.loads(data[8 : 8 + header_length])["__metadata__"]["tree"])
        tensors = load(data)
        return _Reader(limits, tensors).decode(tree, depth=0)
    except ObservationError:
        raise
    except (
        SafetensorError,
        AttributeError,
        KeyError,
        IndexError,
        RecursionError,
        RuntimeError,
        TypeError,
        ValueError,
        OverflowError,
        MemoryError,
    ) as error:
        raise ObservationError(f"not an observation: {type(error).__name__}") from error


def as_received(value: Any, limits: PackLimits = LIMITS) -> Any:
    """What :func:`unpack` returns for the bytes that :func:`pack` makes of `value`.

    The bytes are made only for values that could exceed a limit on them: they took nearly half of
    the time of the known mistakes, which run many thousand times.

    Raises:
        ObservationError: the value exceeds a limit.
    """
    tensors: dict[str, torch.Tensor] = {}
    tree = _Writer(limits, tensors).encode(value, depth=0)
    # The tree is a JSON string within the header's JSON, which at most doubles it.
    header = 2 * len(json.dumps(tree)) + _MOST_ABOUT_A_TENSOR * len(tensors)
    size = header + sum(tensor.nbytes for tensor in tensors.values())
    if header > limits.header or size > limits.size:
        return unpack(pack(value, limits), limits)
    return _Reader(limits, tensors).decode(tree, depth=0)


def _check_size(data: bytes, limits: PackLimits) -> int:
    """The length of the header in `data`. Raises ObservationError if either exceeds its limit."""
    if len(data) > limits.size:
        raise ObservationError(f"{len(data):,} bytes, more than {limits.size:,}")
    header_length = int.from_bytes(data[:8], "little")
    if header_length > limits.header:
        raise ObservationError(f"a tree of more than {limits.header:,} bytes")
    return header_length


class _Walk:
    """One walk over a tree, which counts its values and stops at the limits."""

    def __init__(self, limits: PackLimits, tensors: dict[str, torch.Tensor]) -> None:
        self._limits = limits
        self._tensors = tensors
        self._left = limits.nodes

    def _spend(self, depth: int) -> None:
        self._left -= 1
        if self._left < 0:
            raise ObservationError(f"more than {self._limits.nodes:,} values")
        if depth > self._limits.depth:
            raise ObservationError(f"nested more than {self._limits.depth} deep")


class _Writer(_Walk):
    """Turns a tree into JSON values and collects its tensors."""

    def encode(self, value: Any, depth: int) -> Any:
        self._spend(depth)
        match value:
            case None | bool():
                return value
            case torch.Tensor():
                return self._tensor(value)
            case np.generic() if isinstance(value, (np.bool_, np.integer, np.floating, np.str_)):
                return self.encode(value.item(), depth + 1)
            case int():
                return {"int": int(value)} if abs(value) < MAX_INT else {"opaque": "a huge int"}
            case float():
                return {"float": float(value)}
            case str():
                return {"str": clip(str(value), self._limits.text)}
            case list() | tuple():
                return [self.encode(item, depth + 1) for item in value]
            case Mapping() if all(isinstance(key, str) for key in value):
                return {
                    "dict": [
                        [clip(str(key), 200), self.encode(item, depth + 1)]
                        for key, item in value.items()
                    ]
                }
            case Raised():
                fields = (value.type, value.message, value.source_line)
                return {"raised": [clip(field, 400) for field in fields]}
            case Missing():
                return {"missing": clip(value.name, 200)}
            case Opaque():
                return {"opaque": clip(value.type, 200)}
            case _:
                return {"opaque": clip(_type_name(value), 200)}

    def _tensor(self, value: torch.Tensor) -> Any:
        dtype = str(value.dtype).removeprefix("torch.")
        if value.layout != torch.strided or value.device.type != "cpu" or value.is_quantized:
            return {"opaque": f"torch.Tensor ({value.layout}, {value.device.type})"}
        if value.dtype not in DTYPES:
            return {"opaque": f"torch.Tensor ({dtype})"}
        if value.ndim > MAX_DIMENSIONS:
            return {"opaque": f"torch.Tensor (of {value.ndim} dimensions)"}
        key = str(len(self._tensors))
        # Copied because safetensors refuses tensors that share memory. A subclass becomes Tensor.
        plain = value.detach().as_subclass(torch.Tensor).resolve_neg()
        self._tensors[key] = plain.clone(memory_format=torch.contiguous_format)
        return {"tensor": key}


class _Reader(_Walk):
    """Turns JSON values back into a tree without trusting any of them."""

    def decode(self, node: Any, depth: int) -> Any:
        self._spend(depth)
        if node is None or isinstance(node, bool):
            return node
        if isinstance(node, list):
            return [self.decode(item, depth + 1) for item in node]
        ((kind, content),) = node.items()
        match kind, content:
            case "tensor", str():
                return self._tensor(content)
            case "int", int() if abs(content) < MAX_INT:
                return int(content)
            case "float", float() | int():
                return float(content)
            case "str", str():
                return clip(content, self._limits.text)
            case "dict", list():
                return {
                    clip(_text(key), 200): self.decode(item, depth + 1) for key, item in content
                }
            case "raised", [type_, message, line]:
                return Raised(*(clip(_text(field), 400) for field in (type_, message, line)))
            case "missing", str():
                return Missing(clip(content, 200))
            case "opaque", str():
                return Opaque(clip(content, 200))
        raise ObservationError("a value of an unknown kind")

    def _tensor(self, key: str) -> torch.Tensor:
        # Each tensor may be used once: a large one used a thousand times would cost too much.
        tensor = self._tensors.pop(key)
        if tensor.dtype not in DTYPES:
            raise ObservationError(f"a tensor of {tensor.dtype}")
        if tensor.ndim > MAX_DIMENSIONS:
            raise ObservationError(f"a tensor of more than {MAX_DIMENSIONS} dimensions")
        return tensor


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ObservationError("expected text")
    return value


def _type_name(value: Any) -> str:
    kind = type(value)
    if kind.__module__ == "builtins":
        return kind.__qualname__
    return f"{kind.__module__}.{kind.__qualname__}"


def dtype_of(value: Any) -> str:
    """The name of a tensor's dtype, such as "float64"; for any other value, of its type."""
    return str(getattr(value, "dtype", type(value).__name__)).removeprefix("torch.")


def count_of(result: Any) -> str:
    """How many values a function returned: "one tensor" or "2 values"; or else the result's type.

    A check that unpacks a tensor would take its rows for the values.
    """
    if isinstance(result, torch.Tensor):
        return ONE_TENSOR
    return _values(len(result)) if isinstance(result, (tuple, list)) else type(result).__name__


def _values(count: int) -> str:
    return f"{count} value{'' if count == 1 else 's'}"


ONE_TENSOR = "one tensor"
NONE_TYPE = "NoneType"
# What a student wrote down, if it is neither numbers nor text; a part of an item that is missing;
# a reason that is long enough, and one that is not.
UNREADABLE = "no number"
NO_PART = "not there"
REASON, SHORT = "at least four words", "fewer words"
# How a student's test loses a failure (see lost_failures.py).
TUPLE_ASSERTED = "an `assert` of a tuple"
RESULT_UNREAD = "a comparison whose result nothing reads"
FAILURE_CAUGHT = "an `except`"
NOTHING_STOPS_IT = "a test that nothing stops"
NO_REASON = "nothing of this kind"

DTYPE_WORDS = frozenset(
    {*(str(dtype).removeprefix("torch.") for dtype in DTYPES), "complex64", "complex128"}
)
# What dtype_of and count_of may say, names of devices, and sorts of written answers: words that
# anyone may read.
KIND_WORDS = frozenset(
    {
        *(UNREADABLE, NO_PART, REASON, SHORT),
        *(TUPLE_ASSERTED, RESULT_UNREAD, FAILURE_CAUGHT, NOTHING_STOPS_IT, NO_REASON),
        *("text", "one number", *(f"{n} numbers" for n in range(10))),
        *(ONE_TENSOR, *(_values(n) for n in range(10))),
        *DTYPE_WORDS,
        *("cpu", "cuda", "meta", "mps"),
        *("int", "float", "bool", "str", "list", "tuple", "dict", NONE_TYPE, "Tensor"),
    }
)


def is_number(value: Any) -> bool:
    """Whether `value` is one number: an int, a float or a tensor without dimensions."""
    if isinstance(value, bool):
        return False
    return isinstance(value, (int, float)) or (
        isinstance(value, torch.Tensor) and value.ndim == 0 and value.dtype != torch.bool
    )


def as_float(value: Any) -> float:
    """A number, as accepted by :func:`is_number`, as a Python float; NaN if it is complex."""
    if isinstance(value, torch.Tensor) and value.is_complex():
        return math.nan
    return float(value)
