"""Which words of student code feedback may quote.

A function that answers a probe in the sandbox can read what is there: the hidden checks of its
exercise, and perhaps references of earlier steps. So whatever comes from there (an error's message,
a type's name, a returned text, even an error of our own) is quoted only if the judge knew it
before: the exercise's own names, words of the notebook, messages of Python and torch with at most
three short numbers. In the student's own notebook there is nothing to copy, so ``check()`` quotes
everything there. Tested in tests/attacks/test_hidden_checks_in_feedback.py and, in bits,
test_bits_in_feedback.py.
"""

from __future__ import annotations

import builtins
import re
import sys
from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import cache, cached_property
from typing import Any

import numpy as np
import torch

from attnlab.checking.errors import MISSING_WEIGHT
from attnlab.checking.judges import Difference
from attnlab.checking.observation import Missing, Opaque, Raised
from attnlab.checking.redact import redacted

_MOST = 40
# Words and lines of a longer notebook are not quoted: the more of them, the more one of them says.
_MOST_TEXT = 2**18
_MOST_NUMBERS = 3
# Common messages: W is a name of the notebook's or of torch's, N a number, S some sizes.
_MESSAGES = """
name 'W' is not defined
cannot access local variable 'W' where it is not associated with a value
local variable 'W' referenced before assignment
'W' object has no attribute 'W'
module 'W' has no attribute 'W'
'W' object is not callable
'W' object is not iterable
'W' object is not subscriptable
'W' object does not support item assignment
object of type 'W' has no len()
unsupported operand type(s) for O: 'W' and 'W'
'O' not supported between instances of 'W' and 'W'
can only concatenate W (not "W") to W
'W' object cannot be interpreted as an integer
cannot unpack non-iterable W object
too many values to unpack (expected N)
not enough values to unpack (expected N, got N)
W() missing N required positional argument: 'W'
W() missing N required keyword-only argument: 'W'
W() got an unexpected keyword argument 'W'
W() got multiple values for argument 'W'
W() takes N positional arguments but N were given
W() takes N positional argument but N were given
W() takes N positional arguments but N was given
W() takes N positional argument but N was given
Module [W] is missing the required "forward" function
list index out of range
string index out of range
tuple index out of range
division by zero
float division by zero
math domain error
maximum recursion depth exceeded
'W'
The size of tensor a (N) must match the size of tensor b (N) at non-singleton dimension N
mat1 and mat2 shapes cannot be multiplied (NxN and NxN)
mat1 and mat2 must have the same dtype, but got W and W
expected m1 and m2 to have the same dtype, but got: W != W
expected scalar type W but found W
size mismatch, got input (N), mat (NxN), vec (N)
inconsistent tensor size, expected tensor S and src S to have the same number of elements, but got N and N elements respectively
Expected size for first two dimensions of batch2 tensor to be: S but got: S.
batch1 must be a ND tensor
shape 'S' is invalid for input of size N
Dimension out of range (expected to be in range of [N, N], but got N)
index N is out of bounds for dimension N with size N
index N is out of bounds for axis N with size N
too many indices for tensor of dimension N
selected index k out of range
Boolean value of Tensor with more than one value is ambiguous
Boolean value of Tensor with no values is ambiguous
only one element tensors can be converted to Python scalars
a Tensor with N elements cannot be converted to Scalar
element N of tensors does not require grad and does not have a grad_fn
Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.
a leaf Variable that requires grad is being used in an in-place operation.
Trying to backward through the graph a second time
result type W can't be cast to the desired output type W
mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: W
exp only supports floating-point types
The expanded size of the tensor (N) must match the existing size (N) at non-singleton dimension N.  Target sizes: S.  Tensor sizes: S
Tensors must have same number of dimensions: got N and N
Sizes of tensors must match except in dimension N. Expected size N but got size N for tensor number N in the list.
stack expects each tensor to be equal size, but got S at entry N and S at entry N
permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of dimensions i.e. input.dim() = N is not equal to len(dims) = N
view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous subspaces). Use .reshape(...) instead.
W received an invalid combination of arguments
W(): argument 'W' (position N) must be W, not W
W() missing N required positional arguments: "W"
einsum(): subscript W has size N for operand N which does not broadcast with previously seen size N
gather(): Expected dtype int32/int64 for index
masked_fill_ only supports boolean masks, but got mask with dtype W
one_hot is only applicable to index tensor of type LongTensor.
"""  # noqa: E501 - as Python and torch write them
_SLOTS = {
    "W": r"([A-Za-z_][\w.]{0,39})", "N": r"-?\d{1,4}", "NxN": r"\d{1,4}x\d{1,4}", "ND": r"\dD",
    "O": r"(?:[-+*/@|&^%]|[<>=!]=|[<>]|\*\*|//|<<|>>)=?(?: or pow\(\))?",
    "S": r"[\[(]?(?:-?\d{1,4}(?:, )?){0,6},?[\])]?",
}  # fmt: skip
_NUMBER = re.compile(r"(?<![A-Za-wyz_\d])\d+")  # a size, but not the digit of "mat1"
# Kinds of differences whose values are numbers, sizes or the grader's own words.
_WITHOUT_WORDS = frozenset(
    {
        "type", "length", "dtype", "nan", "gradient", "values", "band", "no answer",
        "did not raise", "rejects right", "lets through", "outcome",
    }
)  # fmt: skip
_SLOT = re.compile(r"(\bNxN\b|\bND\b|(?<![A-Za-z])[WNOS](?![A-Za-z]))")
_MISSING_WEIGHT = re.compile(r"there is no weight ([A-Za-z_]\w*(?:\.\w+){0,2})(?= )")
_WORDS = re.compile(r"[A-Za-z_]\w*")
_KINDS = frozenset(
    _WORDS.findall(
        "Bool Byte Short Int Long Half Float Double BFloat16 double half long NoneType method "
        "function builtin_function_or_method"
    )
)


class QuotationFilter:
    """Decides which words of one submission are quoted.

    Args:
        sources: the notebook's cells.
    """

    def __init__(self, sources: Iterable[str]) -> None:
        self._sources = tuple(_beginning(sources))

    def vet(self, difference: Difference) -> Difference:
        """The same difference of a visible check, without words that could have been copied."""
        seen = difference.seen
        match difference.kind, seen:
            case "raised", Raised():
                return replace(difference, seen=self._raised(seen))
            case "keys", list():
                extra = [key for key in seen if key not in difference.expected]
                quotable = len(extra) <= 3 and all(map(self._is_in_notebook, extra))
                return difference if quotable else redacted(difference)
            case _, str() if self._is_in_notebook(seen):
                return difference
            case _, Opaque():
                return replace(difference, seen=Opaque(self._type(seen.type)))
            case _, str():
                return redacted(difference)
            case kind, _ if kind in _WITHOUT_WORDS:
                return difference
            case _:  # a judge may name kinds of its own
                return redacted(difference)

    def _raised(self, seen: Raised) -> Raised:
        if seen.type == MISSING_WEIGHT:
            return Raised(MISSING_WEIGHT, self._missing_weight(seen.message))
        own = getattr(builtins, seen.type, None)
        known = isinstance(own, type) and issubclass(own, BaseException)
        name = seen.type if known or self._is_name(seen.type) else "an exception of its own"
        line = seen.source_line if seen.source_line in self.lines else ""
        return Raised(name, self._common_part(seen.message), line)

    def _common_part(self, message: str) -> str:
        """The beginning of the message that is a common one; empty if there is none."""
        for pattern in _patterns():
            found = pattern.match(message)
            if found and all(map(self._is_word, found.groups())):
                several = len(set(_NUMBER.findall(found[0]))) > _MOST_NUMBERS
                return _NUMBER.sub("…", found[0]) if several else found[0]
        return ""

    def _missing_weight(self, message: str) -> str:
        """Which weight is missing, if its name is put together from the notebook's names."""
        found = _MISSING_WEIGHT.match(message)
        known = found is not None and all(map(self._is_name, found[1].split(".")))
        return found[0] if found is not None and known else ""

    def _is_word(self, text: str) -> bool:
        return text in _KINDS or self._is_name(text) or _resolves(text)

    def _is_name(self, text: str) -> bool:
        """Whether `text` is a short name that appears in the notebook."""
        return len(text) <= _MOST and text in self._words

    def _is_in_notebook(self, text: str) -> bool:
        return len(text) <= _MOST and any(text in source for source in self._sources)

    def _type(self, name: str) -> str:
        own = name.rpartition(".")[2]
        if _resolves(name):
            return name
        return own if self._is_name(own) else "another type"

    @cached_property
    def lines(self) -> frozenset[str]:
        """The notebook's lines, without the space around them."""
        return frozenset(line.strip() for text in self._sources for line in text.splitlines())

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(word for source in self._sources for word in _WORDS.findall(source))


def without_forged_events(seen: Any, names: Collection[str], forbids: Collection[str]) -> Any:
    """An observation without the events that no probe of its exercise makes.

    Student code can raise our own errors, and return them, with any text.

    Args:
        seen: the observation.
        names: the names and files that the exercise's probes ask for.
        forbids: the functions that they forbid.
    """
    match seen:
        case Raised(type="ForbiddenCallError") if seen.message not in forbids:
            return Raised("RuntimeError", "", seen.source_line)
        case Missing() if seen.name not in names:
            return Raised("AttributeError")
        case list():
            return [without_forged_events(item, names, forbids) for item in seen]
        case dict():
            return {key: without_forged_events(item, names, forbids) for key, item in seen.items()}
    return seen


def _beginning(sources: Iterable[str]) -> Iterable[str]:
    left = _MOST_TEXT
    for source in sources:
        yield source[:left]
        left = max(0, left - len(source))


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    lines = _MESSAGES.strip().splitlines()
    return tuple(
        re.compile("".join(_SLOTS.get(part) or re.escape(part) for part in _SLOT.split(line)))
        for line in lines
    )


def _resolves(name: str) -> bool:
    """Whether Python, torch or numpy have an attribute of this name; no code of theirs is run."""
    *package, last = name.split(".")
    if not package:
        return any(last in vars(module) for module in (builtins, torch, np))
    module = sys.modules.get(".".join(package))
    return module is not None and last in vars(module)
