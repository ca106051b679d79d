"""A notebook signals or traces other processes, leaves some behind, or makes far too many."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from attack import run_cells, said


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen]:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


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


def test_other_processes_cannot_be_traced(sandbox):
    attach = (
        "import ctypes\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "print([libc.ptrace(16, pid, 0, 0) for pid in (1, 2, 3)])\n"
    )
    assert "[-1, -1, -1]" in said(sandbox, attach)


def test_no_way_to_new_namespaces_or_mounts(sandbox):
    ways = (
        "import ctypes\n"
        "libc = ctypes.CDLL(None)\n"
        "print(libc.unshare(0x10000000), libc.syscall(56, 0x10000000 | 17, 0, 0, 0, 0))\n"
        "print(libc.mount(b'none', b'/scratch', b'tmpfs', 0, None), libc.umount2(b'/scratch', 2))\n"
    )
    assert "-1 -1\n-1 -1" in said(sandbox, ways)


MARK = f"left-behind-by-a-notebook-{os.getpid()}"
LEAVE = f"""
import subprocess, sys
subprocess.Popen(
    [sys.executable, "-c", "import time; time.sleep(30)", "{MARK}"],
    start_new_session=True, stdin=-3, stdout=-3, stderr=-3,
)
"""


def left_behind() -> list[int]:
    """The processes of the whole machine that carry the mark."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if MARK.encode() in (folder / "cmdline").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def test_no_child_outlives_its_submission(sandbox, unconfined):
    assert run_cells(unconfined, LEAVE).cells[0].state == "ok"
    survivors = left_behind()
    for pid in survivors:
        os.kill(pid, signal.SIGKILL)
    assert survivors
    time.sleep(0.1)
    assert run_cells(sandbox, LEAVE).cells[0].state == "ok"
    assert left_behind() == []


BOMB = """
import os
made = 0
try:
    while made < 200:
        os.posix_spawn("/bin/sleep", ["sleep", "2"], {})
        made += 1
finally:
    print("made", made)
"""


def test_a_fork_bomb_stays_small_and_costs_nobody_else(sandbox, unconfined):
    assert "made 200" in said(unconfined, BOMB)
    answer = said(sandbox, BOMB)
    assert "BlockingIOError" in answer
    assert int(answer.partition("made ")[2].split()[0]) < sandbox.limits.processes
    assert said(sandbox, "print('still here')").strip() == "still here"
