"""A notebook signals other processes: the grader's, its fork server, any other."""

from __future__ import annotations

import signal
import subprocess
import sys

from tests.helpers.attack import run_cells, said


def test_other_processes_cannot_be_killed(sandbox, unconfined, bystander):
    kill = f"import os, signal\nos.kill({bystander.pid}, signal.SIGKILL)"
    said(sandbox, kill)
    said(sandbox, "import os, signal\nos.kill(-1, signal.SIGKILL)")
    assert bystander.poll() is None
    said(unconfined, kill)
    assert bystander.wait(5) == -signal.SIGKILL


def test_the_fork_server_cannot_be_killed(sandbox):
    kill = "import os, signal\nos.kill(os.getppid() or 2, signal.SIGKILL)"
    server = f"import os\nif os.fork(): os.wait()\nelse: exec({kill!r})"
    naive = subprocess.run([sys.executable, "-c", server], check=False)
    assert naive.returncode == -signal.SIGKILL
    before, _, after = run_cells(sandbox, "1", kill, "2").cells
    assert (before.state, after.state) == ("ok", "ok")


def test_a_signal_to_the_process_group_stays_inside(sandbox):
    kill = "import os, signal\nos.kill(0, signal.SIGKILL)"
    group = f"import os\nif os.fork(): os.wait()\nelse: exec({kill!r})"
    naive = subprocess.run([sys.executable, "-c", group], check=False, start_new_session=True)
    assert naive.returncode == -signal.SIGKILL
    before, _, after = run_cells(sandbox, "1", kill, "2").cells
    assert (before.state, after.state) == ("ok", "ok")


def test_its_process_group_is_its_own(sandbox):
    group = "import os, signal\nos.killpg(os.getpgrp(), 9)\nos.kill(0, signal.SIGKILL)"
    server = f"import os\nif os.fork(): os.wait()\nelse: exec({group!r})"
    naive = subprocess.run([sys.executable, "-c", server], check=False, start_new_session=True)
    assert naive.returncode == -signal.SIGKILL
    for _ in range(2):
        _, after = run_cells(sandbox, group, "print('still here')").cells
        assert after.outputs[0]["text"] == "still here\n"
