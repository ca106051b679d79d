"""A student's test that accepts a wrong version or rejects a right one, in words.

Tested in ``test_advice.py``.
"""

from __future__ import annotations

from attnlab.checking.judges import Difference
from attnlab.checking.observation import (
    FAILURE_CAUGHT,
    NOTHING_STOPS_IT,
    RESULT_UNREAD,
    TUPLE_ASSERTED,
)

# How a student's test loses a failure, and a question on it.
LOST_FAILURES = {
    TUPLE_ASSERTED: "an `assert` with a tuple, as in `assert (a, b)`, which is true whatever its "
    "entries are. Which of them is your condition?",
    RESULT_UNREAD: "the True or False of a comparison, which no line reads before the test ends or "
    "its name gets another value. Which statement turns a False into an error?",
    FAILURE_CAUGHT: "an `except` that also catches the error of a failed `assert`. Which error do "
    "you expect there?",
    NOTHING_STOPS_IT: "nothing stops your test, not even a version that only raises an error. "
    "Where does it call the version that it is given, and what becomes of an error there?",
}


def explain_test(difference: Difference, where: str) -> str:
    """One or two sentences on a test that a student wrote, and that judges versions wrongly.

    Args:
        difference: of one of the kinds below.
        where: the start of the sentence: the part of the observation that it is about.

    Raises:
        ValueError: the difference is of another kind.
    """
    expected, seen = difference.expected, difference.seen
    match difference.kind:
        case "test returns":
            return (
                f"{where}your test returns False, but nothing reads that value. A test rejects by "
                "raising: which statement turns a False into an error?"
            )
        case "test prints":
            return (
                f"{where}your test prints something and raises nothing. A test rejects by raising: "
                "which statement does that?"
            )
        case "rejects right":
            rejected = f"{seen} of {expected} correct versions"
            if seen == expected:
                rejected = "every correct version"
            which = f", among them one that {difference.detail}" if difference.detail else ""
            return f"Your test rejects {rejected}{which}. What does it demand beyond the task?"
        case "lets through":
            return (
                f"Your test accepts {seen} of {expected} wrong versions. "
                "Which inputs would distinguish them from a right one?"
            )
    raise ValueError(f"no verdict on a test of kind {difference.kind!r}")
