"""A difference in words: what was checked, what was seen, where to look next.

The sentences say where and how the answer differs. They never contain an expected entry of a
tensor, an expected number or an expected text, except from a fixed list of words. They do name
other things that were expected: a length, a shape, a dtype, a kind of value, the names in a
dictionary, an exception's type, True or False, and for a visible check the band of a result. The
advice for a known mistake is better and comes first (see :mod:`attnlab.checking.verdict`).
"""

from __future__ import annotations

import math
import re
from typing import Any

import torch
from torch import Tensor

from attnlab.checking.advice_on_errors import explain_raised
from attnlab.checking.advice_on_tests import LOST_FAILURES, explain_test
from attnlab.checking.judges import Difference, Path
from attnlab.checking.observation import (
    DTYPE_WORDS,
    KIND_WORDS,
    NO_PART,
    NONE_TYPE,
    ONE_TENSOR,
    SAVED,
    UNREADABLE,
    Missing,
    Opaque,
    Raised,
    as_float,
    is_number,
)
from attnlab.checking.relations import relation, relation_of_two
from attnlab.checking.shape_relations import shape_relation

_MOST_SLICES = 4
# A word, or a few, that a check puts in the place of a value.
_FEW_WORDS = re.compile(r"\w[\w ,'-]{0,59}")
_ONE_OR_SEVERAL = "Does the task ask for one value here or for several?"
# How the entries of checks begin that ask whether a test rejects a wrong version.
_REJECTS = "rejects "
# How the entries of checks end that ask whether the code leaves its inputs alone.
UNCHANGED = ("unchanged", "as it was", "as they were")


def is_blank(difference: Difference | None) -> bool:
    """Whether the code still raises the task's own placeholder, which has no message.

    A NotImplementedError of torch, or of a student, has a message.
    """
    if difference is None or difference.kind != "raised":
        return False
    return difference.seen.type == "NotImplementedError" and not difference.seen.message


def only_last_digits_differ(difference: Difference) -> bool:
    """Whether the numbers agree to about five digits, as after a cast to a lower precision."""
    expected, seen = difference.expected, difference.seen
    if difference.kind != "values":
        return False
    if is_number(expected) and is_number(seen):
        return _agree_to_five_digits(as_float(expected), as_float(seen))
    return difference.wrong is not None and _all_nearly(expected, seen)


def names_a_dtype(difference: Difference) -> bool:
    """Whether the difference is that between the names of two dtypes."""
    seen = difference.seen
    return difference.kind == "values" and isinstance(seen, str) and seen in DTYPE_WORDS


def explain(difference: Difference, guesses: bool = True) -> str:
    """One or two sentences on a difference, for the student whose code made it.

    Args:
        difference: from a judge.
        guesses: whether to say what the numbers or shapes look like, as in "the right number times
            2". Such a remark may hold by accident, so it is left out where the cause is known.

    Raises:
        ValueError: no judge makes differences of this kind.
    """
    if is_blank(difference):
        return (
            "Nothing is written here yet, or `raise NotImplementedError` is still there. Replace "
            "that line with your code."
        )
    where = _place(difference.path)
    match difference.kind:
        case "no answer" | "missing" | "forbidden" | "raised" | "did not raise":
            return _explain_event(difference, where)
        case "outcome" | "band":
            return _explain_result(difference, where)
        case "changes":
            return difference.detail
        case "rejects right" | "lets through" | "test returns" | "test prints":
            return explain_test(difference, where)
        case "values" if wrong_version := _accepted(difference):
            return f"Your test should reject {wrong_version}, and does not."
        case _:
            return where + _explain_value(difference, guesses)


def _explain_event(difference: Difference, where: str) -> str:
    """The student's code gave no value that could be compared."""
    expected, seen = difference.expected, difference.seen
    match difference.kind:
        case "no answer":
            end = "" if seen.reason.endswith(("?", ".")) else "."
            return f"No answer came from your code: {seen.reason}{end}"
        case "missing" if seen.name.endswith(SAVED):
            return (
                f"There is no file `{seen.name}` next to your notebook. Run the cell that trains "
                "the model and saves it there, and hand the file in with the notebook."
            )
        case "missing" if seen.stopped:
            return (
                f"Your cell for `{seen.name}` stopped before defining it: {seen.stopped}. "
                "What does Python print below that cell when you run it?"
            )
        case "missing":
            return (
                f"Your notebook does not define `{seen.name}`. "
                "Has its cell run, and is the name spelled as in the task?"
            )
        case "forbidden":
            return (
                f"Your code calls `{seen.message}`, which you should build in this step. "
                "Please write it from smaller functions."
            )
        case "raised":
            return explain_raised(difference, where)
        case "did not raise":
            return f"{where}expected {expected.type}, but nothing was raised."
    raise ValueError(f"no event of kind {difference.kind!r}")


def _explain_result(difference: Difference, where: str) -> str:
    """A number is outside its band."""
    expected, seen = difference.expected, difference.seen
    match difference.kind:
        case "outcome":
            number = "" if seen is None else f"on unseen data the result is {seen:.3g}. "
            return f"{where}{number}{difference.detail}"
        case "band":
            return f"{where}expected {expected}, got {as_float(seen):.4g}."
    raise ValueError(f"no result of kind {difference.kind!r}")


def _explain_value(difference: Difference, guesses: bool) -> str:
    """A value differs from the expected one; the coarsest difference is explained."""
    expected, seen = difference.expected, difference.seen
    match difference.kind:
        case "type" | "values" if isinstance(seen, str) and seen == NO_PART:
            return 'expected an item of three parts: (slide, right, "why").'
        case "type" | "dtype":
            question = _question_on_kind(expected, seen)
            return f"expected {_kind_expected(expected)}, got {_kind(seen)}. {question}".rstrip()
        case "length":
            noun = "value" if expected == 1 else "values"
            return f"expected {expected} {noun}, got {seen}."
        case "keys":
            return _entries(expected, seen)
        case "shape":
            right, yours = _shape(expected), _shape(seen)
            guess = shape_relation(right, yours) if guesses else ""
            return f"expected shape {right}, got {yours}. {guess}".rstrip()
        case "gradient":
            return (
                "no gradient reaches the input. Some call on the way cuts torch's graph: which one?"
            )
        case "nan":
            strange = _strange(seen, difference.wrong)
            if not isinstance(seen, Tensor):
                return f"{strange} Where does it come from?"
            return f"{strange} Follow the first such entry back through your code."
        case "number":
            # It may be a prediction, written by hand: a word on its sign would give it away.
            turned = math.isclose(as_float(seen), -as_float(expected))
            return f"your number is not right{'.' if turned else _nearly(expected, seen, guesses)}"
        case "word":
            return f"no such word; choose one of {', '.join(map(repr, expected))}."
        case "values" if isinstance(seen, bool):
            return _truth(difference)
        case "values":
            return _values(difference, guesses)
        case "shares":
            return _shares(expected, seen, difference.wrong)
    raise ValueError(f"no difference of kind {difference.kind!r}")


def _place(path: Path) -> str:
    """The start of a sentence: the part of the observation that it is about."""
    words = " / ".join(part for part in path if isinstance(part, str))
    # From the inside out, in words: [2][0] is value 1 of list 3.
    numbers = [part + 1 for part in reversed(path) if isinstance(part, int)]
    if numbers:
        place = " of ".join(
            [f"value {numbers[0]}", *(f"list {number}" for number in numbers[1:])],
        )
        words = f"{words} ({place})" if words else place
    return f"{words}: " if words else ""


def _entries(expected: Any, seen: Any) -> str:
    missing = [str(name) for name in expected if name not in seen]
    extra = [repr(name) for name in seen if name not in expected]  # it may end in a space
    parts = [f"there is no entry {_listed(missing)}"] if missing else []
    parts += [f"the task does not ask for {_listed(extra)}"] if extra else []
    return "; ".join(parts) + "."


def _listed(words: list[str]) -> str:
    """Words as a list in a sentence: P1, P2 or P3."""
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _kind_expected(value: Any) -> str:
    """What kind of value was expected. The value itself must not be revealed: it may be hidden."""
    match value:
        case None:
            return "None"
        case bool():
            return "True or False"
        case str():
            return "text"
        case Tensor() if value.ndim > 0:
            return _kind(value)
        case list():
            return "a list"
        case dict():
            return "a dictionary"
        case _ if is_number(value):
            return "a number"
    return _kind(value)


def _kind(value: Any) -> str:
    match value:
        case Tensor():
            dtype = str(value.dtype).removeprefix("torch.")
            return f"a {dtype} tensor of shape {tuple(value.shape)}"
        case Opaque(type=name):
            return f"an object of type {name}"
        case Raised(type=name):
            return f"{name}"
        case Missing(name=name):
            return f"no `{name}`"
        case None:
            return "None (is the `return` missing?)"
        case str() if value == UNREADABLE:
            return value
        case bool() | str():
            return f"{value!r}"
        case _ if is_number(value):
            return f"the number {_number(value)}"
        case list():
            return f"a list of {len(value)}"
    return f"a {type(value).__name__}"


def _question_on_kind(expected: Any, seen: Any) -> str:
    """A question about a value of another kind than the expected one; empty if none is known."""
    match expected, seen:
        case Tensor(), list() if not any(isinstance(part, Tensor) for part in seen):
            return "Which line makes a list, and which function makes one tensor of its parts?"
        case Tensor(), list():
            return _ONE_OR_SEVERAL
        case Tensor(), bool():
            return "Which line compares, and does the task ask for yes or no?"
        case Tensor(), int() | float():
            return "Which call turns a tensor into a number of Python?"
        case list(), Tensor():
            return _ONE_OR_SEVERAL
    return ""


def _question_on_word(expected: str, seen: str) -> str:
    """A question about the wrong name of a dtype, a device or a type; else empty."""
    if seen == ONE_TENSOR:
        return _ONE_OR_SEVERAL
    if seen == NONE_TYPE:
        return "Is a `return` missing?"
    if "cpu" in (expected, seen):
        return "Which line makes a tensor without asking for its device?"
    if seen in DTYPE_WORDS:
        return "Which line names a dtype, or makes a tensor without asking the input for its own?"
    return ""


def _strange(seen: Any, wrong: Tensor | None) -> str:
    values = seen if isinstance(seen, Tensor) else torch.tensor(as_float(seen))
    bad = ~torch.isfinite(values)
    if wrong is not None:
        bad &= wrong  # infinity may be right in other entries
    word = "NaN" if bool(values[bad].isnan().any()) else "infinity"
    if values.ndim == 0:
        return f"the result is {word}."
    first = _index(bad)
    return f"{int(bad.sum())} of {bad.numel()} entries are {word}, the first at index {first}."


def _index(marked: Tensor) -> str:
    """The first marked entry: (1, 2), or 3 if there is one axis."""
    first = marked.nonzero()[0].tolist()
    return str(first[0] if len(first) == 1 else tuple(first))


def _shape(value: Any) -> tuple[int, ...]:
    return tuple(value.shape if isinstance(value, Tensor) else value)


def _last_words(path: Path) -> str:
    """The name of the entry in which a difference is; empty if there is none."""
    return next((part for part in reversed(path) if isinstance(part, str)), "")


def _accepted(difference: Difference) -> str:
    """The wrong version that a test accepts, by the entry's name; empty if it is about no test."""
    said = _last_words(difference.path)
    return said.removeprefix(_REJECTS) if said.startswith(_REJECTS) and not difference.seen else ""


def _truth(difference: Difference) -> str:
    said = _last_words(difference.path)
    if difference.seen:
        return "expected False, got True."
    if said.endswith(UNCHANGED):
        return "expected True, got False. Which line writes into what your code was given?"
    return "expected True, got False."


def _number(value: Any) -> str:
    """A number as text: a whole number in full."""
    if isinstance(value, Tensor):
        value = value.item()
    if isinstance(value, int):
        return str(value)
    value = as_float(value)
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}"


def _values(difference: Difference, guesses: bool) -> str:
    expected, seen, wrong = difference.expected, difference.seen, difference.wrong
    if is_number(expected) and is_number(seen):
        return f"your {_number(seen)} is not right{_nearly(expected, seen, guesses)}"
    if isinstance(seen, str) and seen in LOST_FAILURES:
        return LOST_FAILURES[seen]
    if isinstance(seen, str) and {expected, seen} <= KIND_WORDS:
        return f"{seen}, expected {expected}. {_question_on_word(expected, seen)}".rstrip()
    if isinstance(expected, str) and seen == Opaque("str"):  # a word of a hidden check
        return "that word is not right here."
    if isinstance(expected, str) and isinstance(seen, str) and _FEW_WORDS.fullmatch(seen):
        return f"{seen}, and that is not right."
    if wrong is None:
        return f"{_kind(seen)} is not right here."
    count, total, first = int(wrong.sum()), wrong.numel(), _index(wrong)
    dtype = ""
    if expected.dtype != seen.dtype:
        dtype = f" (expected {_dtype(expected)}, yours is {_dtype(seen)})"
    amount = "every entry differs" if count == total else f"{count} of {total} entries differ"
    if not dtype and _all_nearly(expected, seen):
        how = f"{_pattern(wrong)} Only the last digits differ."
    else:
        how = (relation(expected, seen) if guesses else "") or _pattern(wrong)
    return f"{amount}, the first at index {first}{dtype}. {how.strip()}".rstrip()


def _shares(expected: Tensor, seen: Tensor, wrong: Tensor | None) -> str:
    assert wrong is not None
    first = tuple(wrong.nonzero()[0].tolist())
    total = int(expected[first[:-1]].sum())
    return (
        f"{int(seen[first])} of {total} random draws are number {first[-1]}, and that is not "
        "chance: the probabilities differ."
    )


def _nearly(expected: Any, seen: Any, guesses: bool) -> str:
    """The end of a sentence: a remark if the numbers are close, or off as by a usual slip."""
    right, theirs = as_float(expected), as_float(seen)
    if _agree_to_five_digits(right, theirs):
        return ": only the last digits differ."
    return f". {relation_of_two(right, theirs) if guesses else ''}".rstrip()


def _agree_to_five_digits(right: float, other: float) -> bool:
    return abs(right - other) < 1e-5 * abs(right)


def _all_nearly(expected: Tensor, seen: Tensor) -> bool:
    """Whether two tensors agree to about five digits of their largest number."""
    if not (expected.is_floating_point() and seen.is_floating_point()):
        return False
    right, theirs = expected.double(), seen.double()
    finite = right.isfinite()
    if not torch.equal(finite, theirs.isfinite()) or not bool(finite.any()):
        return False
    return bool((right - theirs)[finite].abs().max() < 1e-5 * right[finite].abs().max())


def _dtype(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _pattern(wrong: Tensor) -> str:
    """A remark if whole slices along one dimension are wrong and all other slices are right."""
    if wrong.ndim < 2:
        return ""
    for dim in range(wrong.ndim):
        others = [d for d in range(wrong.ndim) if d != dim]
        some, every = wrong, wrong
        for other in sorted(others, reverse=True):
            some, every = some.any(other), every.all(other)
        if torch.equal(some, every) and bool(some.any()) and not bool(some.all()):
            wholes = some.nonzero().flatten().tolist()
            more = len(wholes) - _MOST_SLICES
            shown = f"{wholes[:_MOST_SLICES]}" + (f" and {more} more" if more > 0 else "")
            return f"Along dimension {dim}, these slices are wrong throughout: {shown}."
    return ""
