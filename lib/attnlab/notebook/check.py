"""``check("softmax")`` runs the visible checks of one exercise on the notebook's present code.

It shows each check with its points. If a check fails, it gives advice, and a picture if numbers
differ. Its value is the number of visible points earned, which nbgrader reads as partial credit.
``check()`` shows all steps of the lab in one table.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from attnlab.notebook.cells import as_graded_in, watch
from attnlab.notebook.points import Points, show_after_cell

if TYPE_CHECKING:
    from attnlab.checking.overview import Overview
    from attnlab.checking.render import Notice, Report
    from attnlab.checking.visible import VisibleLab
    from attnlab.notebook.cells import AsGraded

FILE_VARIABLE = "ATTNLAB_CHECKS"
GRADING_VARIABLE = "ATTNLAB_GRADING"
VALIDATING_VARIABLE = "NBGRADER_VALIDATING"


def check(name: str | None = None) -> float:
    """Run the visible checks of exercise `name` on the code that the notebook has run so far.

    Without a name, show where you stand: all steps of the lab in one table.

    In a notebook, the result is shown below the cell; in a terminal, it is printed. Whatever the
    checked code does, only ``KeyboardInterrupt`` is raised.

    Returns:
        The visible points earned. Under ``nbgrader validate``, all points if every visible check
        passes.
    """
    if os.environ.get(GRADING_VARIABLE) == "1":
        return 0.0
    # Imported here, so that `import attnlab` alone does not load torch.
    from attnlab.checking.render import Report

    names, shell = _namespace(sys._getframe(1))
    as_graded = as_graded_in(shell, names)
    try:
        shown = _overview(names, as_graded) if name is None else _report(name, names, as_graded)
    except KeyboardInterrupt as error:
        # Not through our own functions, whose lines would hide the student's.
        raise KeyboardInterrupt(_stopped(error)) from None
    in_notebook = getattr(shell, "kernel", None) is not None
    if not in_notebook:
        _print(shown.text)
    earned = shown.earned
    if os.environ.get(VALIDATING_VARIABLE) == "1" and isinstance(shown, Report):
        # nbgrader's validator takes anything less than the cell's full points for a failure, and
        # the points of hidden checks are not available here.
        earned += shown.exercise.hidden_points if shown.verdict.passed else 0.0
    points = Points(earned, shown.html)
    if in_notebook:
        show_after_cell(points, shell)
    return points


def _stopped(error: KeyboardInterrupt) -> str:
    """Where a check was interrupted, and what that may mean."""
    from attnlab.checking.raised import raised_by

    line = raised_by(error).source_line
    where = f" in the line `{line}`" if line else ""
    return f"you stopped the check{where}. If it took too long: does every loop of yours end?"


def _report(name: str, names: Mapping[str, Any], as_graded: AsGraded) -> Report | Notice:
    """The verdict on one exercise; if it fails, with the earlier steps that it runs on."""
    from attnlab.checking.lookup import find_exercise
    from attnlab.checking.progress import earlier_steps, is_blank_step
    from attnlab.checking.render import Report, notice
    from attnlab.checking.run_visible import Printed, run_visible

    found = find_exercise(name, _folders(names), os.environ.get(FILE_VARIABLE))
    if isinstance(found, str):
        return notice(found)
    printed = Printed()
    with as_graded(name) as changed:
        others = [name for step in found.lab.exercises for name in step.names]
        verdict = run_visible(found.exercise, names, printed, others)
        blank = not verdict.passed and is_blank_step(found.exercise, names)
        # A test may pass because what it tests is wrong in the same way.
        alone = blank or (verdict.passed and not found.exercise.is_a_test)
        earlier = () if alone else tuple(earlier_steps(found.exercise, found.lab, names, verdict))
    return Report(found.exercise, verdict, earlier, blank, printed.text, changed)


def _overview(names: Mapping[str, Any], as_graded: AsGraded) -> Overview | Notice:
    from attnlab.checking.lookup import find_lab
    from attnlab.checking.overview import Overview
    from attnlab.checking.progress import steps_progress
    from attnlab.checking.render import notice

    lab = find_lab(_folders(names), os.environ.get(FILE_VARIABLE))
    return (
        notice(lab)
        if isinstance(lab, str)
        else Overview(tuple(steps_progress(lab, names, as_graded)))
    )


def lab_of_notebook() -> VisibleLab | None:
    """The lab of the notebook that this kernel runs; None if there is no checks file."""
    from attnlab.checking.lookup import find_lab

    shell = sys.modules["IPython"].get_ipython()
    lab = find_lab(_folders(shell.user_ns), os.environ.get(FILE_VARIABLE))
    return None if isinstance(lab, str) else lab


def _namespace(caller: FrameType) -> tuple[Mapping[str, Any], Any]:
    """The names that the student's code has defined, and IPython's shell or None."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    # A script that a notebook runs with %run is __main__ itself; a helper module is not.
    if shell is not None and caller.f_globals.get("__name__") != "__main__":
        return shell.user_ns, shell
    return caller.f_globals, shell


def _folders(names: Mapping[str, Any]) -> list[Path]:
    """The folders that may contain a checks file: this one, the notebook's, the script's."""
    from attnlab.checking.lookup import working_folder

    notebook = names.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME")
    here = working_folder()
    given = [Path(path) for path in (notebook, names.get("__file__")) if isinstance(path, str)]
    # A relative path means nothing if the working folder has been deleted.
    nearby = [path.resolve() for path in given if path.is_absolute() or here is not None]
    # A lab's source, lab03_attention.py, is beside the folder lab03.
    labs = [path.with_name(path.stem.partition("_")[0]) for path in nearby]
    return [*([here] if here is not None else []), *(path.parent for path in nearby), *labs]


def _print(text: Callable[..., str]) -> None:
    out = sys.stdout
    coloured = bool(getattr(out, "isatty", lambda: False)()) and "NO_COLOR" not in os.environ
    encoding = getattr(out, "encoding", None) or "utf-8"
    shown = text(coloured=coloured)
    try:
        shown.encode(encoding)
    except UnicodeEncodeError:
        signs = str.maketrans({"✓": "+", "✗": "-", "—": "-", "“": '"', "”": '"', "−": "-"})
        shown = shown.translate(signs).encode(encoding, "replace").decode(encoding)
    print(shown)


if os.environ.get(GRADING_VARIABLE) != "1":
    watch(lab_of_notebook)
