"""Says why a cell that looks at the student's functions has nothing to show.

A cell under **Look** must not stop the cells below it, whatever is wrong with a step, because "Run
All" ends at the first error. Tested in ``test_unwritten.py``.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

from attnlab.checking.observation import clip
from attnlab.checking.raised import raised_by
from attnlab.notebook.not_right_yet import do_not_pass, steps_not_right
from attnlab.notebook.running import kernel_shell

_MOST_MESSAGE = 300


def unwritten_step(error: NotImplementedError) -> str:
    """The name of the function or method whose placeholder raised `error`.

    Raises:
        NotImplementedError: `error` itself, if it comes from torch and not from a placeholder.
    """
    if str(error):
        raise error
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return frame.f_code.co_qualname.rpartition("<locals>.")[2]


def why_not(error: Exception, *functions: Callable[..., Any]) -> str:
    """Why the student's functions gave no result, as the second half of "No picture yet: …".

    If one of them does not pass its checks, that is the reason: a wrong result of an earlier step
    stops a later one that is right, in a line that is right.

    Args:
        error: what a call of theirs raised, caught by the caller.
        functions: what was called.

    Raises:
        Exception: `error` itself, if it is an error of ours: no line of a notebook is involved. A
            MemoryError, too, because it belongs to a limit.
    """
    if isinstance(error, MemoryError):
        raise error
    if isinstance(error, NotImplementedError) and not str(error):
        return f"`{unwritten_step(error)}` is not written."
    if isinstance(error, NameError) and error.name and kernel_shell() is not None:
        return f"`{error.name}` is not defined. Which cell defines it, and has it run?"
    if wrong := steps_not_right(*functions):
        return f'{do_not_pass(wrong)}. What does `check("{wrong[0].name}")` say?'
    raised = raised_by(error)
    message = f": {clip(raised.message, _MOST_MESSAGE)}" if raised.message else ""
    if raised.source_line:
        line = clip(raised.source_line, _MOST_MESSAGE)
        said = f"your code stopped with {raised.type} in the line `{line}`{message}"
    elif kernel_shell() is not None:
        said = f"what your functions return does not fit here ({raised.type}{message})"
    else:
        raise error
    return f"{said.rstrip('.')}. What does `check()` say?"
