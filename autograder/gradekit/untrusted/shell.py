"""The shell that runs a notebook's cells: IPython without a kernel, outputs in nbformat's form.

Untrusted side. The fork server makes the shell once, and each submission gets a copy of it by its
fork. :class:`Outputs` collects what a cell prints, shows, draws and raises.

Tested in tests/gradekit/untrusted/test_shell.py and tests/gradekit/sandbox/test_sandbox.py.
"""

from __future__ import annotations

import gc
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from gradekit.untrusted.cell_output import KEPT_TYPES, Outputs, RawOutput, Stream, as_text
from gradekit.untrusted.libc import c_library
from gradekit.untrusted.limits import LimitKind
from gradekit.untrusted.soft_limits import alarm, function_in, limit_in_error

_MOST_CALLS = 10  # at either end of a traceback


class CellTimeout(BaseException):
    """A cell ran for too long. Not an Exception, so a cell's ``except Exception`` lets it pass."""


@dataclass(frozen=True)
class Ran:
    """How one cell ran.

    Attributes:
        state: "ok", "error" (it raised) or "stopped" (its time was over).
        limit: the limit that it exceeded, if any.
        where: the student's function that exceeded it; empty if unknown.
    """

    state: Literal["ok", "error", "stopped"]
    limit: LimitKind | None = None
    where: str = ""


class _Hook(DisplayHook):
    """Turns the value of a cell's last expression into an execute_result."""

    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        count = self.prompt_count
        self.shell.outputs.show("execute_result", format_dict, execution_count=count)

    def finish_displayhook(self) -> None:
        self._is_active = False


class _Publisher(DisplayPublisher):
    """Turns ``display(...)`` into display_data."""

    def publish(self, data: Any, metadata: Any = None, **more: Any) -> None:
        self.shell.outputs.show("display_data", data)

    def clear_output(self, wait: bool = False) -> None:
        self.shell.outputs.clear()


class NotebookShell(InteractiveShell):
    """IPython's shell with a notebook's outputs, without a terminal or a kernel.

    Attributes:
        outputs: of the running cell.
        raw: output that goes to the file descriptors themselves.
    """

    displayhook_class = _Hook
    display_pub_class = _Publisher

    def __init__(self, **given: Any) -> None:
        self.outputs = Outputs(0, 0)
        self.raw = RawOutput()
        super().__init__(**given)

    def enable_gui(self, gui: Any = None) -> None:
        """Figures are pictures here; there is no window to enable."""

    def ask_exit(self) -> None:
        """``exit()`` in a cell ends nothing."""

    def system(self, cmd: str) -> None:
        """``!command``: run it and show its output."""
        done = subprocess.run(  # noqa: S602 - the student wrote a shell line
            self.var_expand(cmd, depth=1), shell=True, check=False, stdin=subprocess.DEVNULL
        )
        self.raw.drain(self.outputs)
        self.user_ns["_exit_code"] = done.returncode

    system_raw = system_piped = system

    def getoutput(self, cmd: str, split: bool = True, depth: int = 0) -> Any:
        """``lines = !command``."""
        done = subprocess.run(  # noqa: S602 - the student wrote a shell line
            self.var_expand(cmd, depth=depth + 1),
            shell=True,
            check=False,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        return done.stdout.splitlines() if split else done.stdout

    def _showtraceback(self, etype: Any, evalue: Any, stb: list[str]) -> None:
        entry = {
            "output_type": "error",
            "ename": str(getattr(etype, "__name__", etype)),
            "evalue": as_text(evalue),
            "traceback": _without_middle([str(entry) for entry in stb]),
        }
        self.outputs.add(entry, len(entry["evalue"]) + sum(map(len, entry["traceback"])))


def _without_middle(entries: list[str]) -> list[str]:
    """A traceback's beginning and end: an infinite recursion leaves a thousand calls."""
    left_out = len(entries) - 2 * _MOST_CALLS
    if left_out <= 1:
        return entries
    return [*entries[:_MOST_CALLS], f"  … {left_out} more calls …\n", *entries[-_MOST_CALLS:]]


def make_shell() -> NotebookShell:
    """The shell of this process. No history file, no thread, figures inline."""
    config = Config()
    config.HistoryManager.enabled = False
    # With the highlighted lines around it, an error takes as long as half of a notebook, and an
    # infinite recursion takes six seconds.
    config.InteractiveShell.xmode = "Plain"
    shell: NotebookShell = NotebookShell.instance(config=config)
    shell.enable_matplotlib("inline")
    shell.display_formatter.active_types = list(KEPT_TYPES)
    return shell


def run_cell(
    shell: NotebookShell,
    source: str,
    seconds: float,
    report: Callable[[LimitKind, str], None] | None = None,
) -> Ran:
    """Run one cell; its outputs are in ``shell.outputs``.

    Args:
        shell: the notebook's.
        source: the cell's text.
        seconds: after this time, the cell is stopped.
        report: called at once with the limit and the running function, because a cell that catches
            every exception may never end.
    """
    stopped: list[tuple[LimitKind, str]] = []

    def stop(limit: LimitKind, where: str) -> None:
        stopped.append((limit, where))
        if report:
            report(limit, where)
        raise CellTimeout(f"This cell was stopped {_when(limit, seconds)}.")

    try:
        with alarm(seconds, stop):
            result = shell.run_cell(source, store_history=True)
    except CellTimeout:
        return Ran("stopped", *stopped[0])
    error = result.error_before_exec or result.error_in_exec
    if isinstance(error, CellTimeout) and stopped:
        return Ran("stopped", *stopped[0])
    if error is None:
        return Ran("ok", LimitKind.OUTPUT if shell.outputs.is_cut else None)
    limit = limit_in_error(type(error).__name__, as_text(error))
    if error is result.error_before_exec and limit is LimitKind.MEMORY:
        limit = None  # Python's parser says so of text that is nested too deeply
    where = function_in(error.__traceback__)
    if limit is LimitKind.MEMORY:
        _free_memory_of(error)
    return Ran("error", limit, where if limit else "")


def _when(limit: LimitKind, seconds: float) -> str:
    match limit:
        case LimitKind.TIME:
            return f"after {seconds:g} s"
        case LimitKind.CPU:
            return "at its limit on CPU time"
        case _:
            raise ValueError(f"the limit {limit!r} stops no cell")


def _free_memory_of(error: BaseException) -> None:
    """Free the variables of the functions that ran out of memory, so that later cells can run."""
    traceback.clear_frames(error.__traceback__)
    for frame, _ in traceback.walk_tb(error.__traceback__):
        _ = frame.f_locals  # updates the copy from which the traceback was printed
    gc.collect()
    c_library().malloc_trim(0)


@contextmanager
def collecting(shell: NotebookShell, outputs: Outputs) -> Iterator[None]:
    """In this block, send printed and shown outputs to `outputs`."""
    before = [getattr(sys, name, None) for name in ("stdout", "stderr")]
    shell.outputs = outputs
    sys.stdout, sys.stderr = Stream(outputs, "stdout", 1), Stream(outputs, "stderr", 2)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
