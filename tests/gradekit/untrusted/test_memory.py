"""The memory of processes, as /proc reports it."""

from __future__ import annotations

import os
import subprocess
import sys

from gradekit.untrusted import memory

HOARD = "hoard = bytearray(b'x') * (64 * 2**20)\nprint('full', flush=True)\ninput()\n"


def test_the_memory_of_a_child_is_counted():
    line = [sys.executable, "-c", HOARD]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        used = memory.used_by_descendants(os.getpid())
        assert 64 * 2**20 < used[child.pid] < 256 * 2**20
        assert memory.resident([child.pid]) >= memory.used_by(child.pid)
        child.communicate(b"\n")
    assert memory.used_by(child.pid) == 0
    assert memory.resident([child.pid]) == 0


def test_collapsing_changes_no_memory():
    script = (
        "from gradekit.untrusted import memory\n"
        "kept = bytearray(b'x') * (8 * 2**20)\n"
        "memory.collapse()\n"
        "print(kept.count(b'x') == 8 * 2**20)\n"
    )
    line = [sys.executable, "-c", script]
    assert subprocess.run(line, capture_output=True, text=True, check=True).stdout == "True\n"
