"""A notebook takes memory that appears in no process: shared pages, pipes, locks, rules.

A hand-in that does so in a loop takes all the memory of the machine, and its own count stays as it
was. So the calls are refused.
"""

from __future__ import annotations

import pytest

from gradekit.untrusted.limits import WAITING_SIGNALS
from tests.helpers.attack import run_cells, said

PAGES = """
import mmap, os
def kib(path, name):
    return next(int(line.split()[1]) for line in open(path) if line.startswith(name))
def now():
    return kib("/proc/meminfo", "Shmem:"), kib("/proc/self/status", "VmRSS:")
shared, own = now()
kept = {}
for at in range(0, 2**27, 4096):
    kept[at] = 1
kept.madvise(mmap.MADV_DONTNEED)
print("taken", [after - before >> 10 for after, before in zip(now(), (shared, own))], kept[4096])
"""
WAYS = {
    "without a file": "mmap.mmap(-1, 2**27)",
    "/dev/zero": "mmap.mmap(os.open('/dev/zero', os.O_RDWR), 2**27)",
}


@pytest.mark.parametrize("way", WAYS)
def test_shared_pages_that_no_process_seems_to_have(sandbox, unconfined, way):
    hoard = PAGES.replace("{}", WAYS[way], 1)
    words = said(unconfined, hoard).partition("taken [")[2]
    taken, own = (int(number) for number in words.partition("]")[0].split(","))
    assert taken > 100, "the attack does not even work"
    assert own < 64
    answer = said(sandbox, hoard)
    assert "taken" not in answer
    assert "Error" in answer


def test_private_pages_and_shared_files_still_work(sandbox):
    use = (
        "import mmap\n"
        "private = mmap.mmap(-1, 2**20, mmap.MAP_PRIVATE); private[7] = 1\n"
        "open('f', 'wb').write(bytes(2**20))\n"
        "with open('f', 'r+b') as f: shared = mmap.mmap(f.fileno(), 2**20); shared[7] = 1\n"
        "print('read', private[7], open('f', 'rb').read(8))\n"
    )
    assert "read 1 b'\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x01'" in said(sandbox, use)


CALL = """
import ctypes, os, struct
libc = ctypes.CDLL(None)
numbers = {{"x86_64": {}, "aarch64": {}}}
result = libc.syscall(numbers[os.uname().machine], {})
print("result", "bad" if result < 0 else "good")
"""
# A page of a pipe may be a part of a huge page, which then stays; a ruleset has no limit; places
# for asynchronous input and output are those of the whole machine.
CALLS = {
    "vmsplice": (278, 75, "os.pipe()[1], struct.pack('PN', id(CALL), 1), 1, 0"),
    "landlock_create_ruleset": (444, 444, "struct.pack('QQQ', 0, 3, 0), ctypes.c_size_t(24), 0"),
    "io_setup": (206, 0, "1000, bytearray_of_8"),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_kernel_keeps_nothing_more(sandbox, unconfined, name):
    x86, arm, arguments = CALLS[name]
    arguments = arguments.replace("id(CALL)", "ctypes.addressof(page)")
    arguments = arguments.replace("bytearray_of_8", "place")
    before = (
        "import ctypes\npage = ctypes.create_string_buffer(9)\nplace = (ctypes.c_ulong * 1)(0)\n"
    )
    attack = before + CALL.format(x86, arm, arguments)
    assert "result good" in said(unconfined, attack)
    assert "result bad" in said(sandbox, attack)


LOCKS = """
import fcntl, os
file = open("locked", "w")
fcntl.lockf(file, fcntl.LOCK_EX, 1, 10)
if os.fork() == 0:
    try: fcntl.lockf(open("locked", "w"), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 10)
    except OSError: os._exit(7)
    os._exit(0)
print("locks", "kept" if os.wait()[1] else "not kept")
"""


def test_locks_are_not_kept(sandbox, unconfined):
    """One file may have any number of them, each in some memory of the kernel's own."""
    assert "locks kept" in said(unconfined, LOCKS)
    assert "locks not kept" in said(sandbox, LOCKS)


def test_databases_work_without_locks(sandbox):
    use = (
        "import sqlite3\n"
        "for row in range(3):\n"
        "    with sqlite3.connect('a.db') as book:\n"
        "        book.execute('create table if not exists t (x)')\n"
        "        book.execute('insert into t values (?)', (row,))\n"
        "print('rows', book.execute('select sum(x) from t').fetchone())\n"
    )
    (cell,) = run_cells(sandbox, use).cells
    assert "rows (3,)" in cell.outputs[0]["text"]


QUEUE = """
import ctypes, os, signal
libc = ctypes.CDLL(None)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN])
sent = 0
while sent < 5000 and not libc.sigqueue(os.getpid(), int(signal.SIGRTMIN), ctypes.c_void_p(0)):
    sent += 1
print("waiting", sent)
"""


def test_signals_that_wait(sandbox, unconfined):
    """The kernel keeps a record for each, which belongs to no process's memory."""
    assert "waiting 5000" in said(unconfined, QUEUE)
    assert 0 < int(said(sandbox, QUEUE).partition("waiting ")[2].split()[0]) <= WAITING_SIGNALS
