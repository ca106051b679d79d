"""An exception of the student's code in words, with a question that helps with torch's message.

Tested in ``test_advice.py``.
"""

from __future__ import annotations

import re

from attnlab.checking.errors import MISSING_WEIGHT
from attnlab.checking.judges import OWN_ACCEPTED, Difference
from attnlab.checking.observation import NONE_TYPE, Raised

_WHICH_DTYPE = "Which of the two did your code make, and with which dtype?"
_ON_DEVICES = ("not compiled with CUDA", "from the 'MPS' backend", "Found no NVIDIA driver")
_ON_META = ("on meta tensors", "with Meta tensors", "out of meta tensor")
# Parts of torch's messages that students rarely understand, and a question that helps.
_QUESTIONS_BY_MESSAGE = {
    "torch.return_types.": "With an axis, `max` and similar functions return two things, values "
    "and indices: which do you need?",
    "Boolean value of Tensor": "A tensor with several entries is neither true nor false. Do you "
    "mean all of them, any of them, or whether it is None?",
    "must match the size of tensor": "What are the shapes on the two sides of the operation?",
    "received an invalid combination of arguments": "Does this call get the arguments that it "
    "needs, each of the right type, in the right order?",
    "Module.__init__() call": "Which call must come first in `__init__`?",
    "a leaf Variable that requires grad": "Which line writes into a weight or into an input, and "
    "should torch record that?",
    "is being modified inplace": "Which line writes into a part of a tensor that was cut up?",
    **dict.fromkeys(
        _ON_META,
        'A tensor on "meta" has a shape, a dtype and a device, but no entries. What can you ask '
        "it?",
    ),
    "in-place operation": "Which line writes into one of its input tensors?",
    "modified by an inplace operation": "Which line changes a result that the backward pass still "
    "needs: an assignment to entries, `+=`, or a name that ends in `_`?",
    "must have the same dtype": _WHICH_DTYPE,
    "Float did not match Double": _WHICH_DTYPE,
    "Double did not match Float": _WHICH_DTYPE,
    "Jacobian mismatch": "`gradcheck` moves each input by a millionth, which float32 cannot see: "
    "which dtype do your inputs have?",
    "not implemented for '": "torch has no such function for this dtype: which one does it get "
    "here, and which would do?",
    "where it is not associated": "A name that a function assigns anywhere is local in all of it. "
    "Which line gives it its first value, before this one? If that is a name from outside: what "
    "else could you call the new value?",
    "expected scalar type": "Which of the tensors did your code make, and with which dtype?",
    "out of bounds for dimension": "Which index is it, where does it come from, and how long is "
    "that axis?",
    "is not defined": "Where is this name defined or imported, and is it spelt the same there? If "
    "you replaced the whole cell, its import lines may be missing.",
    "positional argument": "Does the call fit the first line of the function that it calls?",
    "unexpected keyword argument": "Does the call fit the first line of the function that it "
    "calls?",
    "cannot be multiplied": "What are the shapes of the two, and which of their axes meet?",
    "dimensions of batch2 tensor": "What are the shapes of the two, and which of their axes meet?",
    "is invalid for input of size": "How many entries does the tensor have, and how many does this "
    "shape ask for?",
    "view size is not compatible": "In which order are the entries in memory after axes were "
    "exchanged, repeated or cut?",
    "Dimension out of range": "How many axes does this tensor have, and how are they counted?",
    "index out of range": "Which index is it, and how many entries are there?",
    "does not have a grad_fn": "Either no tensor that goes in requires gradients "
    "(`requires_grad`), or a call on the way cuts torch's graph. Which is it here?",
    "on Tensor that requires grad": "Which call leaves torch here, and is it needed?",
    "be on the same device": "Which of the tensors did your code make, and on which device?",
    "is not on the expected device": "Which of the tensors did your code make, and on which "
    "device?",
    "device type tensor to numpy": "Which call leaves torch here, and is it needed?",
    "only one element tensors": "How many entries does the tensor have, and how many may it have "
    "here?",
    "cannot be converted to Scalar": "How many entries does the tensor have, and how many may it "
    "have here?",
    "the shape of the indexed tensor": "What are the shapes of the tensor and of the mask that "
    "chooses its entries?",
    "must match the existing size": "Along which axis is there more than one entry, so that it "
    "cannot be repeated?",
    "values to unpack": "How many values come out of the right-hand side?",
    "unsupported operand type": "Which of the two values has another type than you expect?",
    "'Tensor' object is not callable": "Which name in front of a bracket is a tensor here?",
    "'tuple' object is not callable": "A comma at the end of an assignment makes a tuple: which "
    "line sets the name that is called here?",
    **dict.fromkeys(
        _ON_DEVICES,
        "Which device does the code ask for, and which exists on every machine?",
    ),
    "object has no attribute": "Which value did you expect there, and which did you get?",
}

# A line of a test that only calls the version, which all labs call `impl`.
_CALL = re.compile(r"(?:[\w\s,.*()\[\]]+=\s*)?impl\([^()]*(?:\([^()]*\)[^()]*)*\)$")
# A line of a test that may reject what is right: a condition that is denied, or stands before it.
_DENIES = re.compile(r"raise\b|if\b.*: *raise\b|assert (?:not\b|False\b|.*(?:!=|> *[\de.-]+\b))")
_NO_ATTRIBUTE = re.compile(r"'(\w+)' object has no attribute '(\w+)'$")
_NOT_TENSORS = frozenset(
    ["tuple", "list", "dict", "set", "str", "bool", "int", "float", "function", "method", "type"]
)


def explain_raised(difference: Difference, where: str) -> str:
    """One or two sentences on an exception in the student's code.

    Args:
        difference: what was seen is the exception; what was expected may be one, too.
        where: the start of the sentence: the part of the observation that it is about.
    """
    seen, expected = difference.seen, difference.expected
    if seen.type == MISSING_WEIGHT:
        return f"{where}{seen.message or 'your module lacks a weight that the task names'}."
    if NONE_TYPE in seen.message and not seen.source_line:  # the check uses what the code returned
        return f"{where}your code returned None or passed it on (is a `return` missing?)."
    if seen.message.endswith("object is not callable") and not seen.source_line:
        return (
            f"{where}the check calls your function, and found an object of another kind "
            f"({seen.message}). Which line below the definition gives its name another value?"
        )
    if seen.type == "AttributeError" and not seen.source_line:  # the check reads the attribute
        found = _NO_ATTRIBUTE.match(seen.message)
        if found is not None:
            return where + _explain_missing_attribute(found[1], found[2])
    line = f" in the line `{_cut_line(seen.source_line)}`" if seen.source_line else ""
    message = f": {seen.message}" if seen.message else ""
    if difference.is_rejection:
        stopped = f"{_rejection(difference)} with {seen.type}{line}{message}"
        # What torch says about the inside of a version helps nobody who only called it.
        known = "" if _calls_the_version(seen) else _question(seen.message)
        question = known or _question_on_a_test(difference)
    else:
        instead = f" (expected {expected.type})" if isinstance(expected, Raised) else ""
        stopped = f"{where}your code stopped with {seen.type}{instead}{line}{message}"
        question = _question(seen.message)
    stopped = stopped.rstrip(".: ")
    end = "" if stopped.endswith(("!", "?")) else "."
    return f"{stopped}{end} {question}".rstrip()


def _rejection(difference: Difference) -> str:
    """Which right version the student's test rejects, by the name of the check's entry."""
    *_, key = difference.path
    version = str(key).removeprefix("accepts ")
    return f"your test rejects {re.sub(r'^your own(?= |$)', 'your own version', version)}"


def _cut_line(line: str) -> str:
    """A line of code; with an ellipsis if its statement goes on in the next one."""
    return f"{line} …" if line.endswith(("(", "[", "{", ",")) else line


def _explain_missing_attribute(kind: str, name: str) -> str:
    """What the student's code returned, or its class, lacks something that the check reads."""
    if kind in _NOT_TENSORS:
        article = "an" if kind == "int" else "a"
        return (
            f"your code returned {article} {kind}, which has no `{name}`. "
            "What kind of value does the task ask for?"
        )
    return f"your `{kind}` has no `{name}`. Is this the name that the task gives it?"


def known_part(message: str) -> str:
    """The part of a message of torch's that a question is known for; empty if there is none.

    It is one of a few fixed texts, so it may stand where the message itself may not.
    """
    return next((words for words in _QUESTIONS_BY_MESSAGE if words in message), "")


def _question(message: str) -> str:
    """A question that helps with this message of torch's; empty if none is known."""
    # Not one of the known parts, which hidden checks quote: nobody knows whose line failed there.
    if NONE_TYPE in message:
        return (
            "Which value is None here: an argument that may be None, or the result of a function "
            "without `return`?"
        )
    return _QUESTIONS_BY_MESSAGE.get(known_part(message), "")


def _calls_the_version(raised: Raised) -> bool:
    """Whether the line only calls the version, and the message is not about a missing device."""
    return bool(_CALL.match(raised.source_line)) and known_part(raised.message) not in _ON_DEVICES


def _question_on_a_test(difference: Difference) -> str:
    """A question about a student's test that rejects a right version, or the student's own step.

    The own step may be wrong in a way that only hidden checks see: then the test is right.
    """
    own = difference.path[-1] == OWN_ACCEPTED
    if difference.seen.type == "AssertionError":
        either = " If one does, your own code breaks this promise." if own else ""
        if _DENIES.match(difference.seen.source_line):
            return (
                "Is the condition of this line, or of the `if` before it, true or false for a "
                "right result? Print what it compares, for your own version. If that is what you "
                "mean: which sentence of the docstring promises it?" + either
            )
        return (
            "Print both sides of what this line compares, for your own version. Is the expected "
            "one right? Is one of them NaN or random, or do only the last digits differ? If "
            "nothing of this: which sentence of the docstring promises it?" + either
        )
    either = " If it does, the error is in your own code." if own else ""
    line = difference.seen.source_line
    if line and "impl" not in line:
        return (
            "If this line calls the version that is tested: does the call fit the docstring?"
            f"{either} If the line calls nothing of the kind: which values does it work with?"
        )
    return f"Does your test call it as the docstring says?{either}"
