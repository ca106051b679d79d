"""The shell that runs a notebook's cells: IPython without a kernel, outputs in nbformat's form.

Untrusted side. The shell is made once, in the fork server, and each submission gets a copy of it by
being forked; what a cell prints, shows, draws and raises is collected by :class:`Outputs`.
"""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from gradekit.untrusted.cell_output import KEPT_TYPES, Outputs, RawOutput, Stream, as_text
from gradekit.untrusted.limits import LimitKind
from gradekit.untrusted.soft_limits import alarm, function_in, limit_in_error

_MOST_CALLS = 10  # at either end of a traceback


class CellTimeout(BaseException):
    """A cell ran for too long. No Exception, so that a cell's ``except Exception`` lets it by."""


@dataclass(frozen=True)
class Ran:
    """How one cell ran.

    Attributes:
        state: "ok", "error" (it raised) or "stopped" (its time was over).
        met: the limit that it met, if any.
        where: the student's function in which it did, as far as that is known.
    """

    state: str
    met: LimitKind | None = None
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
    """IPython's shell with a notebook's outputs and nothing of a terminal or a kernel."""

    displayhook_class = _Hook
    display_pub_class = _Publisher
    outputs = Outputs(0, 0)
    raw = RawOutput()

    def enable_gui(self, gui: Any = None) -> None:
        """Figures are pictures here; there is no window to enable."""

    def ask_exit(self) -> None:
        """``exit()`` in a cell ends nothing."""

    def system(self, cmd: str) -> None:
        """``!command``: run it and show what it prints."""
        done = subprocess.run(  # noqa: S602 - a shell line is what the student wrote
            self.var_expand(cmd, depth=1), shell=True, check=False, stdin=subprocess.DEVNULL
        )
        self.raw.drain(self.outputs)
        self.user_ns["_exit_code"] = done.returncode

    system_raw = system_piped = system

    def getoutput(self, cmd: str, split: bool = True, depth: int = 0) -> Any:
        """``lines = !command``."""
        done = subprocess.run(  # noqa: S602 - a shell line is what the student wrote
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
    """A traceback's beginning and end: a recursion without end leaves a thousand calls."""
    left_out = len(entries) - 2 * _MOST_CALLS
    if left_out <= 1:
        return entries
    return [*entries[:_MOST_CALLS], f"  … {left_out} more calls …\n", *entries[-_MOST_CALLS:]]


def make_shell() -> NotebookShell:
    """The shell of this process. No history file, no thread, figures inline."""
    config = Config()
    config.HistoryManager.enabled = False
    # With the lines around it, highlighted, an error takes as long as half of a notebook; a
    # recursion without end takes six seconds.
    config.InteractiveShell.xmode = "Plain"
    shell: NotebookShell = NotebookShell.instance(config=config)
    shell.enable_matplotlib("inline")
    shell.display_formatter.active_types = list(KEPT_TYPES)
    return shell


def run_cell(
    shell: NotebookShell,
    source: str,
    seconds: float,
    tell: Callable[[LimitKind, str], None] | None = None,
) -> Ran:
    """Run one cell; its outputs are in ``shell.outputs``.

    Args:
        shell: the notebook's.
        source: the cell's text.
        seconds: after these it is stopped.
        tell: is told at once where that was: a cell that catches all may not end at all.
    """
    stopped: list[tuple[LimitKind, str]] = []

    def stop(met: LimitKind, where: str) -> None:
        stopped.append((met, where))
        if tell:
            tell(met, where)
        why = f"after {seconds:g} s" if met is LimitKind.TIME else "at its limit on processor time"
        raise CellTimeout(f"This cell was stopped {why}.")

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
    met, where = (
        limit_in_error(type(error).__name__, as_text(error)),
        function_in(error.__traceback__),
    )
    if met is LimitKind.MEMORY:
        _let_go(error)
    return Ran("error", met, where if met else "")


def _let_go(error: BaseException) -> None:
    """Free what the functions held that ran out of memory, or nothing after them could run."""
    traceback.clear_frames(error.__traceback__)
    for frame, _ in traceback.walk_tb(error.__traceback__):
        _ = frame.f_locals  # renews the copy from which the traceback was printed
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)


@contextmanager
def collecting(shell: NotebookShell, outputs: Outputs) -> Iterator[None]:
    """Send what is printed and shown to `outputs`."""
    before = [getattr(sys, name, None) for name in ("stdout", "stderr")]
    shell.outputs = outputs
    sys.stdout, sys.stderr = Stream(outputs, "stdout", 1), Stream(outputs, "stderr", 2)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
