"""Facts about processes from /proc."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from gradekit.untrusted import processes
from gradekit.untrusted.processes import CpuTime, cpu_seconds, descendants, parents

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


BUSY = "import time\nwhile time.process_time() < 0.3: pass\nprint('done', flush=True)\ninput()"


def test_the_time_of_a_process_that_has_ended_still_counts():
    cpu, line = CpuTime(), [sys.executable, "-S", "-c", BUSY]
    for number in (1, 2):
        with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            child.stdout.readline()
            assert cpu.total([child.pid]) > 0.25 * number
            child.communicate(b"\n")
        assert cpu_seconds(child.pid) == 0
    assert cpu.total([]) > 0.5


def test_a_child_that_was_waited_for_counts_once():
    cpu, line = CpuTime(), [sys.executable, "-S", "-c", BUSY]
    before = cpu.total([os.getpid()])
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        child.stdout.readline()
        cpu.total([os.getpid(), child.pid])
        child.communicate(b"\n")
    assert 0.25 < cpu.total([os.getpid()]) - before < 0.5


def test_two_processes_may_seem_to_be_each_others_parent(monkeypatch):
    """/proc is not read at one moment: a number that was free may be given again meanwhile.

    X is a child of Y. Y ends, X starts a process, and the system gives it Y's number.
    """
    monkeypatch.setattr(processes, "parents", lambda: {9: 1, 10: 9, 20: 30, 30: 20})
    signal.alarm(5)  # it would search for ever
    try:
        assert processes.descendants(1) == [9, 10]
    finally:
        signal.alarm(0)
