"""A process hides memory from the server that counts it, or ends that server by its own name.

The server knows processes from /proc alone. There, a process whose first thread
has ended looks as if it had ended itself; of several tables of open files, one is shown; and a
process chooses its own name.
"""

from __future__ import annotations

import os

import pytest

from gradekit.untrusted.limits import MIB
from tests.helpers.attack import run_cells, said, text_of

NEXT = "print('the next cell')"
EXIT_THREAD = {"x86_64": 60, "aarch64": 93}[os.uname().machine]
# Children that do `work` in a second thread and write down what they have; the first thread does
# `first`. Each keeps what it has for a second.
CHILDREN = """
import ctypes, os, socket, threading, time
libc = ctypes.CDLL(None)
reading, writing = os.pipe()
def work():
    time.sleep(0.2)
    {work}
    time.sleep(1)
    os.write(writing, b"{mib} ")
    os._exit(0)
for _ in range({children}):
    if os.fork() == 0:
        threading.Thread(target=work).start()
        {first}
os.close(writing)
"""
SLEEP = "time.sleep(1.5)"
WAIT = "with open(reading, 'rb') as file: print('kept', sum(map(int, file.read().split())))"
MEMORY = "kept = bytearray(b'x') * (250 * 2**20)"
SOCKETS = """{table}
    kept = []
    for _ in range(100):
        kept += socket.socketpair()
        for end in kept[-2:]:
            end.setblocking(False)
            try:
                while True: end.send(bytes(2**14))
            except OSError: pass"""
ENDS, STAYS = f"libc.syscall({EXIT_THREAD}, 0)", "time.sleep(30)"
# Each socket counts as much as its buffer can hold: 200 of them are 81 MiB.
WAYS = {
    "memory behind an ended thread": {"work": MEMORY, "first": ENDS, "mib": 250, "children": 4},
    "sockets behind an ended thread": {
        "work": SOCKETS.format(table="pass"), "first": ENDS, "mib": 81, "children": 14
    },
    "sockets in a table of one's own": {
        "work": SOCKETS.format(table="libc.syscall(436, 2**30, 2**30, 2)"),
        "first": STAYS, "mib": 81, "children": 14,
    },
}  # fmt: skip


def kept(text: str) -> int:
    return int(text.split("kept ")[1].split()[0])


@pytest.mark.parametrize("way", WAYS)
def test_what_a_process_hides_is_counted(sandbox, way):
    most = sandbox.limits.memory_bytes // MIB
    run = run_cells(sandbox, CHILDREN.format(**WAYS[way]), SLEEP, WAIT, NEXT)
    assert kept(text_of(run.cells[2])) <= most
    assert run.peak_bytes > 0
    assert "the next cell" in text_of(run.cells[3])


def test_without_limits_it_is_kept(unconfined):
    """The attack itself works."""
    run = run_cells(
        unconfined, CHILDREN.format(**WAYS["memory behind an ended thread"]), SLEEP, WAIT
    )
    assert kept(text_of(run.cells[2])) == 1000


NAMES = [r"\rVmRSS:\tx", r"\rVmPTE:\t", r"\x0bVmRSS:\tx", r"\x1cVmSwap:\t?"]


@pytest.mark.parametrize("name", NAMES)
def test_the_name_of_an_ended_process_does_not_end_the_server(sandbox, name):
    """An ended process shows no memory, so a line in its name would be the only one."""
    cell = (
        "import ctypes, os, time\n"
        "if os.fork() == 0:\n"
        f"    ctypes.CDLL(None).prctl(15, b'{name}', 0, 0, 0)\n"
        "    os._exit(0)\n"
        "time.sleep(0.6)\nprint('still here')"
    )
    first, second = run_cells(sandbox, cell, NEXT).cells
    assert "still here" in text_of(first)
    assert "the next cell" in text_of(second)


MINCORE = """
import ctypes, mmap, os
libc = ctypes.CDLL(None, use_errno=True)
space = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
at = ctypes.addressof(ctypes.c_char.from_buffer(space))
libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
print("answer", libc.mincore(at, 4096, ctypes.byref(ctypes.c_ubyte())))
"""


def test_which_files_are_in_memory_is_not_told(sandbox, unconfined):
    """As an ordinary user, the grader owns files that a hand-in may read: its library, Python."""
    assert "answer 0" in said(unconfined, MINCORE)
    assert "answer -1" in said(sandbox, MINCORE)
