"""Facts about processes from /proc."""

from __future__ import annotations

import os
import subprocess
import sys

from gradekit.untrusted.processes import cpu_seconds, descendants, parents

GRANDCHILD = (
    "import subprocess, sys\n"
    "child = subprocess.Popen([sys.executable, '-c', 'input()'], stdin=subprocess.PIPE)\n"
    "print(child.pid, flush=True)\n"
    "input()\n"
)


def test_children_of_children_are_descendants():
    line = [sys.executable, "-c", GRANDCHILD]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        grandchild = int(child.stdout.readline())
        found = descendants(os.getpid())
        assert {child.pid, grandchild} <= set(found)
        assert os.getpid() not in found
        assert parents()[grandchild] == child.pid
        child.communicate(b"\n\n")


def test_cpu_time_is_counted_and_an_ended_process_has_none():
    sum(range(10**7))
    assert cpu_seconds(os.getpid()) > 0.05
    assert cpu_seconds(2**22 + 1) == 0
