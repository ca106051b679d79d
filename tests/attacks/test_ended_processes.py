"""A notebook ends its own process, or never ends; its other cells and answers must not suffer."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from attack import run_cells, text_of

from attnlab.checking.observation import unpack
from gradekit.probes import Cell, Probe, Stopped

STUBBORN = """
import signal
for number in (signal.SIGINT, signal.SIGALRM, signal.SIGTERM):
    signal.signal(number, signal.SIG_IGN)
while True:
    try:
        while True: pass
    except BaseException: pass
"""
ASK = "def double(lab, draw):\n    return lab.double(draw.integers(0, 9, 3))\n"
ASKED = Probe("double", "double", ASK, seed=1)


def around(sandbox, hostile: str):
    """A notebook with a right answer before and after a hostile cell, probed."""
    cells = [
        Cell("before", "def double(x):\n    return 2 * x"),
        Cell("hostile", hostile),
        Cell("after", "print(double(21))"),
    ]
    return sandbox.run(cells, [[ASKED]])


def assert_only_the_cell_suffers(run, reason: str) -> None:
    before, hostile, after = run.cells
    assert before.state == "ok"
    assert (hostile.state, hostile.reason) == ("stopped", reason)
    assert "42" in text_of(after)
    (answer,) = run.observations.values()
    assert unpack(answer).shape == (3,)


@pytest.mark.parametrize(
    "ending",
    [
        "import os\nos._exit(0)",
        "import ctypes\nctypes.string_at(0)",
        "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\nos.abort()",
    ],
    ids=["exit", "segmentation fault", "abort"],
)
def test_ending_the_process_costs_one_cell(sandbox, ending):
    script = f"{ending}\nprint('reached')"
    naive = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert b"reached" not in naive.stdout
    assert_only_the_cell_suffers(around(sandbox, ending), "ended its own process")


SUICIDE = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"


def test_killing_itself_does_not_even_end_it(namespaces):
    run = around(namespaces, SUICIDE)
    assert [cell.state for cell in run.cells] == ["ok", "ok", "ok"]


def test_killing_itself_costs_one_cell_in_the_second_level(domains):
    assert_only_the_cell_suffers(around(domains, SUICIDE), "ended its own process")


def test_a_polite_loop_is_stopped_in_place(sandbox):
    run = around(sandbox, "tries = 0\nwhile True:\n    tries += 1")
    assert_only_the_cell_suffers(run, "stopped after 3 s: is there a loop without an end?")
    assert "CellTimeout" in text_of(run.cells[1])


def test_a_loop_that_ignores_every_signal_is_stopped(sandbox):
    with subprocess.Popen([sys.executable, "-c", STUBBORN]) as naive:
        time.sleep(0.3)
        naive.send_signal(signal.SIGINT)
        time.sleep(0.2)
        assert naive.poll() is None
        naive.kill()
    run = around(sandbox, STUBBORN)
    assert_only_the_cell_suffers(run, "stopped after 3 s: is there a loop without an end?")


def test_many_endings_leave_what_came_before_them(sandbox):
    ending = "import os\nos._exit(1)"
    cells = [Cell("good", "def double(x):\n    return 2 * x")] + [
        Cell(f"bad-{i}", ending) for i in range(6)
    ]
    run = sandbox.run(cells, [[ASKED]])
    assert [cell.state for cell in run.cells] == ["ok"] + ["stopped"] * 6
    assert isinstance(run.observations["double", "double"], bytes)


def test_a_crash_in_an_answer_costs_one_exercise(sandbox):
    answers = (
        "import os, time\n"
        "def leave(): os._exit(0)\n"
        "def wait(): time.sleep(1000)\n"
        "def fine(): return 7\n"
    )
    names = ("leave", "fine", "wait", "fine")
    probes = [
        [Probe(f"{i}-{name}", "ask", f"def ask(lab, draw): return lab.{name}()", seed=0)]
        for i, name in enumerate(names)
    ]
    seen = list(sandbox.run([Cell("answers", answers)], probes).observations.values())
    assert seen[0] == Stopped("ended its own process")
    assert seen[2] == Stopped("stopped after 3 s: is there a loop without an end?")
    assert [unpack(answer) for answer in (seen[1], seen[3])] == [7, 7]


def test_the_time_of_a_whole_submission_is_limited(sandbox, monkeypatch):
    monkeypatch.setattr(sandbox, "limits", replace(sandbox.limits, submission_seconds=1.5))
    slow = "import time\ntime.sleep(1)"
    run = sandbox.run([Cell("a", slow), Cell("b", slow), Cell("c", slow)], [[ASKED]])
    assert run.wall_seconds < 4
    assert [cell.state for cell in run.cells] == ["ok", "stopped", "stopped"]
    assert run.observations["double", "double"] == Stopped("the notebook takes longer than 1.5 s")
    assert run_cells(sandbox, "1").cells[0].state == "ok"


@pytest.mark.parametrize("stream", ["sys.stdout = None", "sys.stderr = None", "del sys.stdout"])
def test_a_lost_standard_stream_costs_no_later_cell(sandbox, stream):
    naive = f"import sys\n{stream}\nsys.stdout.write(sys.stderr.name)"
    assert subprocess.run([sys.executable, "-c", naive], capture_output=True).returncode != 0
    run = run_cells(sandbox, f"import sys\n{stream}", "print('heard')", "1 / 0")
    assert "heard" in text_of(run.cells[1])
    assert "division by zero" in text_of(run.cells[2])
    assert "stopped" not in {cell.state for cell in run.cells}
