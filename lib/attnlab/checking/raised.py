"""What an observation keeps of an exception: its type, its message, the student's line.

Tested in ``test_lab.py``.
"""

from __future__ import annotations

import linecache
import re
import traceback
from types import TracebackType

from attnlab.checking.observation import Raised

# A notebook cell's code has a "file" name with one of these in it: Jupyter and VS Code, Colab and
# terminals, the grader.
_NOTEBOOK_MARKS = ("ipykernel", "ipython-input", "<student")
_RAISE = re.compile(r"raise\b")


def raised_by(error: BaseException) -> Raised:
    """The observation of an exception that a student's code raised."""
    return Raised(type(error).__name__, _first_line(error), _line_of(error.__traceback__))


def _first_line(error: BaseException) -> str:
    try:
        return str(error).strip().partition("\n")[0]
    except Exception:  # str() of a student's exception may fail, too
        return ""


def _line_of(trace: TracebackType | None) -> str:
    """The text of the student's line that caused the error; empty if there is none.

    It is the innermost one that the student wrote. If that is a `raise`, the function refuses what
    it was given, so the line that calls it counts.
    """
    lines = [
        (frame.line or linecache.getline(frame.filename, frame.lineno or 0)).strip()
        for frame in reversed(traceback.extract_tb(trace))
        if any(mark in frame.filename for mark in _NOTEBOOK_MARKS)
    ]
    return next((line for line in lines if not _RAISE.match(line)), lines[0] if lines else "")
