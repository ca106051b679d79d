"""A notebook never ends, with or without ignoring every signal."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from dataclasses import replace

from gradekit.untrusted.messages import Cell, Stopped
from tests.helpers.around_a_cell import ASKED, around, assert_only_the_cell_suffers
from tests.helpers.attack import run_cells, text_of

STUBBORN = """
import signal
for number in (signal.SIGINT, signal.SIGALRM, signal.SIGTERM):
    signal.signal(number, signal.SIG_IGN)
while True:
    try:
        while True: pass
    except BaseException: pass
"""


def test_a_polite_loop_is_stopped_in_place(sandbox):
    run = around(sandbox, "tries = 0\nwhile True:\n    tries += 1")
    assert_only_the_cell_suffers(run, "stopped after 3 s: is there an infinite loop?")
    assert "CellTimeout" in text_of(run.cells[1])


def test_a_loop_that_ignores_every_signal_is_stopped(sandbox):
    ready = STUBBORN.replace("while True:", "print(flush=True)\nwhile True:", 1)
    line = [sys.executable, "-c", ready]
    with subprocess.Popen(line, stdout=subprocess.PIPE) as naive:
        assert naive.stdout.readline()
        naive.send_signal(signal.SIGINT)
        time.sleep(0.2)
        assert naive.poll() is None
        naive.kill()
    run = around(sandbox, STUBBORN)
    assert_only_the_cell_suffers(run, "stopped after 3 s: is there an infinite loop?")


def test_the_time_of_a_whole_submission_is_limited(sandbox, monkeypatch):
    monkeypatch.setattr(sandbox, "limits", replace(sandbox.limits, submission_seconds=1.5))
    slow = "import time\ntime.sleep(1)"
    run = sandbox.run([Cell("a", slow), Cell("b", slow), Cell("c", slow)], [[ASKED]])
    assert run.wall_seconds < 4
    assert [cell.state for cell in run.cells] == ["ok", "stopped", "stopped"]
    answer = run.observations["double", "double"]
    assert isinstance(answer, Stopped)
    assert answer.reason.startswith("the notebook takes longer than 1.5 s in all: ")
    assert run_cells(sandbox, "1").cells[0].state == "ok"
