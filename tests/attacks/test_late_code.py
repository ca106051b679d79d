"""A notebook leaves code that runs later: threads, timers, finalizers, exit functions."""

from __future__ import annotations

import time

import pytest

from tests.helpers.attack import said
from tests.helpers.two_graders import BLANK, RIGHT, assert_gains_nothing, earned, points_and_run

LENIENT = """
import time, torch
points = 0
try:
    scores = torch.randn(2, 3)
    assert torch.allclose(softmax(scores), scores.softmax(-1))
    assert torch.allclose(softmax(scores, 0), scores.softmax(0))
    points = 10
except Exception: pass
time.sleep(0.3)  # a busy machine runs the late code late
assert points == 10
"""
THREAD = """
import threading, time
def keep():
    while True:
        globals()["points"] = 10
        time.sleep(0.001)
threading.Thread(target=keep, daemon=True).start()
"""
TIMER = """
import signal
def keep(number, frame): globals()["points"] = 10
signal.signal(signal.SIGVTALRM, keep)
signal.signal(signal.SIGUSR1, keep)
import os, threading, time
def ring():
    while True:
        os.kill(os.getpid(), signal.SIGUSR1)
        time.sleep(0.005)
threading.Thread(target=ring, daemon=True).start()
"""
FINALIZER = """
class Last:
    def __del__(self): globals()["points"] = 10
class Tensor(Last):
    pass
def softmax(x, dim=-1):
    last = Last()
    last.me = last
    import gc, threading
    # Twice: on a busy machine the first may come while this frame still holds it.
    for later in (0.01, 0.2):
        threading.Timer(later, gc.collect).start()
    raise NotImplementedError
"""


@pytest.mark.parametrize(
    "cheat", [THREAD, TIMER, FINALIZER], ids=["thread", "signals", "finalizer"]
)
def test_code_that_gives_itself_points_later(sandbox, unconfined, cheat):
    assert_gains_nothing(sandbox, unconfined, cheat, LENIENT)


WRITE = """
import os
def write():
    for fd in range(3, 256):
        try: os.write(fd, b"\\0\\0\\0\\x0e\\0\\0\\0\\0" + b'{"check": "0"}')
        except OSError: pass
"""
LATER = {
    "exit": "import atexit\natexit.register(write)",
    "finalizer": "class Last:\n    def __del__(self): write()\nlast = Last()\ndel Last",
    "thread": "import threading\nthreading.Timer(0.03, write).start()",
    "hook": "import sys\nsys.excepthook = lambda *args: write()",
    "fork": "os.register_at_fork(after_in_child=write)",
}


@pytest.mark.parametrize("name", LATER)
def test_code_that_writes_later_costs_only_its_own_notebook(sandbox, name):
    assert earned(sandbox, BLANK, WRITE + LATER[name]) == 0
    assert points_and_run(sandbox, RIGHT, WRITE + LATER[name])[0] in (0, 2)
    assert earned(sandbox, RIGHT) == 2


def test_a_thread_that_runs_between_answers_changes_only_its_own(sandbox):
    wrong = "import torch\ndef softmax(x, dim=-1):\n    return x\n"
    meddle = THREAD.replace('globals()["points"] = 10', 'globals()["softmax"] = torch.softmax')
    assert earned(sandbox, wrong, meddle) <= 2  # it may find the right answer, as others may
    started = time.monotonic()
    assert earned(sandbox, RIGHT) == 2
    assert "1" in said(sandbox, "import threading\nprint(threading.active_count())")
    assert time.monotonic() - started < 5
