"""Which steps behind a picture or an answer do not pass their checks yet.

Tested in ``test_cells.py`` and ``test_unwritten.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from attnlab.checking.progress import failing_steps
from attnlab.notebook.check import lab_of_notebook
from attnlab.notebook.running import kernel_shell

if TYPE_CHECKING:
    from attnlab.checking.visible import VisibleExercise


def failing_note(*functions: Callable[..., Any]) -> str:
    """Says which steps are not right yet, of some functions and what they call; empty if all are.

    Args:
        functions: of the notebook, or lambdas in one of its cells.
    """
    wrong = steps_not_right(*functions)
    return f"not to be trusted yet: {do_not_pass(wrong)}" if wrong else ""


def steps_not_right(*functions: Callable[..., Any]) -> list[VisibleExercise]:
    """The steps whose visible checks fail, of some functions and what they call.

    Outside of a notebook there are none.

    Args:
        functions: of the notebook, or lambdas in one of its cells.
    """
    shell = kernel_shell()
    if shell is None or not functions:
        return []
    lab = lab_of_notebook()
    return [] if lab is None else failing_steps(functions, lab, shell.user_ns)


def do_not_pass(wrong: list[VisibleExercise]) -> str:
    """The start of a sentence: "3.1 and 3.3 do not pass their checks"."""
    steps = " and ".join(step.step.number or step.name for step in wrong)
    return f"{steps} {'does not pass its' if len(wrong) == 1 else 'do not pass their'} checks"
