"""What an observation keeps of an exception: its type, its message, the student's line.

Tested in ``test_lab.py``.
"""

from __future__ import annotations

import linecache
import re
import traceback
from collections.abc import Collection
from types import CodeType, TracebackType

from attnlab.checking.observation import Raised

# A notebook cell's code has a "file" name with one of these in it: Jupyter and VS Code, Colab and
# terminals, the grader.
_NOTEBOOK_MARKS = ("ipykernel", "ipython-input", "<student")
_RAISE = re.compile(r"raise\b")


def raised_by(error: BaseException, elsewhere: Collection[CodeType] = ()) -> Raised:
    """The observation of an exception that a student's code raised.

    Args:
        error: the exception.
        elsewhere: the code of other steps. A line of theirs is not quoted if one of this step is
            on the way to the error.
    """
    line = _line_of(error.__traceback__, elsewhere)
    return Raised(type(error).__name__, _first_line(error), line)


def _first_line(error: BaseException) -> str:
    try:
        return str(error).strip().partition("\n")[0]
    except Exception:  # str() of a student's exception may fail, too
        return ""


def _line_of(trace: TracebackType | None, elsewhere: Collection[CodeType]) -> str:
    """The text of the student's line that caused the error; empty if there is none.

    It is the innermost one that the student wrote, of this step if possible. If that is a `raise`,
    the function refuses what it was given, so the line that calls it counts.
    """
    frames = [
        (frame.f_code, linecache.getline(frame.f_code.co_filename, number).strip())
        for frame, number in reversed([*traceback.walk_tb(trace)])
        if any(mark in frame.f_code.co_filename for mark in _NOTEBOOK_MARKS)
    ]
    own = [line for code, line in frames if code not in elsewhere]
    lines = own or [line for _, line in frames]
    return next((line for line in lines if not _RAISE.match(line)), lines[0] if lines else "")
