"""A notebook reads other processes' memory, or writes to it: ptrace, /proc/PID/mem, pidfds."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.helpers.attack import said

SECRET = "the-bystander-knows-this"
KNOWS = f"secret = ''.join({SECRET.split('-')!r}); words = [secret] * 9\nprint(flush=True)\ninput()"
JOINED = SECRET.replace("-", "")


@pytest.fixture
def knowing() -> Iterator[subprocess.Popen]:
    """A process that has a secret in its memory and nowhere else."""
    line = [sys.executable, "-c", KNOWS]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        yield process
        process.kill()


READ = """
import os
want = bytes.fromhex({!r})
def search(pid):
    with open(f'/proc/{{pid}}/maps') as maps, open(f'/proc/{{pid}}/mem', 'rb', 0) as memory:
        for line in maps:
            if 'rw-p' not in line or 'v' in line.split()[-1]: continue
            start, end = (int(part, 16) for part in line.split()[0].split('-'))
            memory.seek(start)
            try:
                if want in memory.read(end - start): return True
            except OSError: pass
for pid in {}:
    try: print(pid, 'found' if search(pid) else 'not there')
    except OSError as error: print(pid, type(error).__name__)
"""


def test_memory_of_others_cannot_be_read(sandbox, unconfined, knowing):
    attack = READ.format(JOINED.encode().hex(), [knowing.pid])
    naive = said(unconfined, attack)
    if "PermissionError" in naive:
        pytest.skip("this system forbids it to everybody (kernel.yama.ptrace_scope)")
    assert "found" in naive
    assert "Error" in said(sandbox, attack)


def test_memory_of_the_fork_server_cannot_be_read(sandbox):
    attack = READ.format(b"anything".hex(), ["os.getppid()", 1, 2, 3]).replace(
        "'os.getppid()'", "os.getppid()"
    )
    own = said(sandbox, "import os\nprint(os.getpid())").strip()
    for line in said(sandbox, attack).strip().splitlines():
        pid, answer = line.split(maxsplit=1)
        assert "Error" in answer or pid == own


CALLS = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
pid, word = {pid}, ctypes.create_string_buffer(8)
class Span(ctypes.Structure): _fields_ = [('at', ctypes.c_void_p), ('size', ctypes.c_size_t)]
here = Span(ctypes.addressof(word), 8)
there = Span(ctypes.addressof(word), 8)
print('attach', libc.ptrace(16, pid, 0, 0), libc.ptrace(17, pid, 0, 0))
print('read', libc.syscall(310, pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0))
print('write', libc.syscall(311, pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0))
try: handle = os.pidfd_open(pid)
except OSError: handle = -1
print('take', libc.syscall(438, handle, 1, 0))
print('compare', libc.syscall(312, pid, os.getpid(), 0, 0, 0))
"""


def test_others_cannot_be_traced(sandbox, unconfined, knowing):
    naive = said(unconfined, CALLS.format(pid=knowing.pid))
    if "attach -1" in naive:
        pytest.skip("this system forbids it to everybody (kernel.yama.ptrace_scope)")
    assert "compare -1" not in naive
    for pid in (knowing.pid, "os.getppid()", 1):
        answers = said(sandbox, CALLS.format(pid=pid)).strip().splitlines()
        assert {line.split()[1] for line in answers} == {"-1"}, answers
