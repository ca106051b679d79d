"""A notebook ends its own process, in any way; its other cells and answers must not suffer."""

from __future__ import annotations

import subprocess
import sys

import pytest

from attnlab.checking.observation import unpack
from gradekit.untrusted.messages import Cell, Probe, Stopped
from tests.helpers.around_a_cell import ASKED, around, assert_only_the_cell_suffers


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
    assert seen[2] == Stopped("stopped after 2 s in `wait`: is there an infinite loop?")
    assert [unpack(answer) for answer in (seen[1], seen[3])] == [7, 7]
