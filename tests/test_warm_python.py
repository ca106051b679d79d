"""The process that commands in tests are forked from leaves nothing behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# A starter, the process that serves it, and a command of that process, which never ends.
THREE = """
import os, time
from tests.helpers import warm_python

starter = os.getpid()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(600)
    never_written, _ = os.pipe()
    print("waiting", flush=True)
    warm_python._wait_for(never_written, starter)
time.sleep(600)
"""


def test_nothing_is_left_if_the_tests_are_killed():
    with subprocess.Popen(
        [sys.executable, "-c", THREE], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as starter:
        assert starter.stdout is not None
        assert starter.stdout.readline() == "waiting\n"
        starter.kill()
        starter.communicate(timeout=20)  # until no process has the other end of the pipe
