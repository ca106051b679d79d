"""A notebook starts processes that outlive it."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from tests.helpers.attack import run_cells

MARK = f"left-behind-by-a-notebook-{os.getpid()}"
LEAVE = f"""
import subprocess, sys
subprocess.Popen(
    [sys.executable, "-c", "import time; time.sleep(30)", "{MARK}"],
    start_new_session=True, stdin=-3, stdout=-3, stderr=-3,
)
"""


def left_behind() -> list[int]:
    """The processes of the whole machine that carry the mark."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if MARK.encode() in (folder / "cmdline").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def test_no_child_outlives_its_submission(sandbox, unconfined):
    assert run_cells(unconfined, LEAVE).cells[0].state == "ok"
    survivors = left_behind()
    for pid in survivors:
        os.kill(pid, signal.SIGKILL)
    assert survivors
    time.sleep(0.1)
    assert run_cells(sandbox, LEAVE).cells[0].state == "ok"
    assert left_behind() == []
