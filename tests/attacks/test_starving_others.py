"""A notebook keeps the processors so busy that other hand-ins exceed their time limits.

Each hand-in has N seconds for a cell. If another takes its CPU time, that cell fails.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from gradekit.sandbox.sandbox import Sandbox
from gradekit.untrusted.cpu_share import FEW_THREADS
from gradekit.untrusted.limits import Limits
from gradekit.untrusted.processes import descendants
from tests.helpers.attack import run_cells, said
from tests.helpers.needs import require

PROCESSES = 30
CORE = min(os.sched_getaffinity(0))
STARVE = f"""
import os, time
for _ in range({PROCESSES}):
    if os.fork() == 0:
        os.setsid()
        os.sched_setaffinity(0, [{CORE}])
        time.sleep(0.5)  # until all have been started
        while True:
            pass
"""
AND_GO_ON = "time.sleep(2.5)"
# The time that passes during a twentieth of a second of CPU time.
WORK = f"""
import os, time
os.sched_setaffinity(0, [{CORE}])
start = time.perf_counter()
while time.process_time() < 0.05:
    pass
print(time.perf_counter() - start)
"""
# Of this process, and of one of that many; 1.25 ** 16 is 36.
NICENESS = os.getpriority(os.PRIO_PROCESS, 0)
WEIGHT = min(19, NICENESS + 16)
LIGHT = f"{{{WEIGHT}}}"
THREADS = f"""
import os, threading, time
seen = set()
until = time.monotonic() + 10  # the fork server needs CPU time before it can change anything
def look():
    while os.getpriority(os.PRIO_PROCESS, 0) != {WEIGHT} and time.monotonic() < until:
        time.sleep(0.05)
    seen.add(os.getpriority(os.PRIO_PROCESS, 0))
threads = [threading.Thread(target=look) for _ in range({PROCESSES})]
for thread in threads:
    thread.start()
look()
for thread in threads:
    thread.join()
print(seen)
"""


@contextmanager
def busy(sandbox: Sandbox) -> Iterator[None]:
    """In this block, the notebook above runs."""
    before, started = descendants(os.getpid()), set()
    thread = threading.Thread(target=run_cells, args=(sandbox, STARVE, AND_GO_ON))
    thread.start()
    try:
        while len(started) < 1 + PROCESSES:
            assert thread.is_alive()
            time.sleep(0.05)
            started = {*descendants(os.getpid())}.difference(before)
        time.sleep(0.5)
        yield
    finally:
        thread.join()
        for pid in started:  # unconfined processes are still there
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def seconds_for_work() -> float:
    """The time that another program needs."""
    line = [sys.executable, "-S", "-c", WORK]
    return float(subprocess.run(line, capture_output=True, text=True, check=True).stdout)


def test_many_busy_processes_leave_others_their_share(sandbox, unconfined):
    with busy(unconfined):
        assert seconds_for_work() > 0.5
    with busy(sandbox):
        # The fork server needs CPU time itself before it can change the weights.
        assert any(seconds_for_work() < 0.5 for _ in range(3))


@pytest.fixture(scope="module", params=["bubblewrap", "landlock"])
def patient(request, student_library):
    """Each level in turn, with time for a fork server that waits for a busy processor."""
    require(request.param)
    with Sandbox(student_library, Limits(cell_seconds=15), level=request.param) as started:
        yield started


def test_many_threads_weigh_as_much_as_one(patient):
    assert said(patient, THREADS).strip() == LIGHT


def test_a_few_threads_are_unchanged(sandbox):
    few = THREADS.replace(f"range({PROCESSES})", f"range({FEW_THREADS - 1})").replace("+ 10", "+ 1")
    assert said(sandbox, few).strip() == f"{{{NICENESS}}}"


def test_a_lowered_priority_cannot_be_raised(patient):
    back = THREADS + "try: os.setpriority(os.PRIO_PROCESS, 0, 0)\nexcept OSError: print('refused')"
    assert said(patient, back).split() == [LIGHT, "refused"]


@pytest.mark.parametrize("call", ["os.setsid()", "subprocess.run('true', start_new_session=True)"])
def test_there_is_only_one_session(sandbox, call):
    cell = (
        "import os, subprocess\nbefore = os.getsid(0)\n"
        f"if os.fork() == 0:\n    {call}\n    os._exit(os.getsid(0) == before)\n"
        "print(os.waitstatus_to_exitcode(os.wait()[1]))"
    )
    assert said(sandbox, cell).strip() == "1"
