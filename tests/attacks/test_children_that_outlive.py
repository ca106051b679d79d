"""A notebook starts processes that outlive it."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from tests.helpers.attack import run_cells


def leave(mark: str) -> str:
    """A cell that starts a process which ends 30 seconds after it and carries the mark."""
    return f"""
import subprocess, sys
subprocess.Popen(
    [sys.executable, "-c", "import time; time.sleep(30)", "{mark}"],
    start_new_session=True, stdin=-3, stdout=-3, stderr=-3,
)
"""


def left_behind(mark: str) -> list[int]:
    """The processes of the whole machine that carry the mark."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "cmdline").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def test_no_child_outlives_its_submission(sandbox, unconfined):
    # Two marks, because a killed process may need a moment to disappear.
    attack, defended = (f"left-behind-{run}-{os.getpid()}" for run in ("unconfined", "confined"))
    assert run_cells(unconfined, leave(attack)).cells[0].state == "ok"
    survivors = left_behind(attack)
    for pid in survivors:
        os.kill(pid, signal.SIGKILL)
    assert survivors
    assert run_cells(sandbox, leave(defended)).cells[0].state == "ok"
    assert left_behind(defended) == []
