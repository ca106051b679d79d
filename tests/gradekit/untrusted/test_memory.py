"""The memory of processes, as /proc reports it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

from gradekit.untrusted import memory

HOARD = "hoard = bytearray(b'x') * (64 * 2**20)\nprint('full', flush=True)\ninput()\n"


def test_the_memory_of_a_child_is_counted():
    line = [sys.executable, "-c", HOARD]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        used = memory.used_by_descendants(os.getpid())
        assert 64 * 2**20 < used[child.pid] < 256 * 2**20
        assert memory.resident([child.pid]) >= memory.used_by(child.pid)
        child.communicate(b"\n")
    assert memory.used_by(child.pid) == 0
    assert memory.resident([child.pid]) == 0


def test_page_tables_and_sockets_of_a_child_are_counted():
    script = (
        "import mmap, socket\n"
        "space = mmap.mmap(-1, 2**35, mmap.MAP_PRIVATE, mmap.PROT_READ)\n"
        "for at in range(0, 2**35, 2**21): space[at]\n"
        "kept = [socket.socketpair() for _ in range(10)]\n"
        "print('full', flush=True)\ninput()\n"
    )
    line = [sys.executable, "-c", script]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        child.stdout.readline()
        tables, buffers = 2**35 // 2**21 * 4096, 20 * memory.SOCKET_BYTES
        assert memory.used_by(child.pid) > tables
        assert memory.used_by_descendants(os.getpid())[child.pid] > tables + buffers
        assert memory.resident([child.pid]) > tables + buffers
        child.communicate(b"\n")


def test_swapped_pages_are_counted(monkeypatch, tmp_path):
    """A process may ask for its pages to be swapped; they are then no longer resident."""
    folder = tmp_path / "7"
    folder.mkdir()
    (folder / "smaps_rollup").write_text("Rss: 900 kB\nPss:  300 kB\nSwap: 99 kB\nSwapPss: 50 kB\n")
    (folder / "status").write_text("VmRSS:\t 900 kB\nVmSwap:\t 99 kB\nVmPTE:\t 8 kB\nFDSize:\t0\n")
    monkeypatch.setattr(memory, "Path", lambda _, *parts: tmp_path.joinpath(*parts))
    assert memory.used_by(7) == 358 * 1024
    assert memory.resident([7]) == 1007 * 1024


def test_a_socket_counts_once():
    ours, theirs = socket.socketpair()
    line = [sys.executable, "-c", "print('started', flush=True)\ninput()"]
    fds = [ours.fileno(), theirs.fileno()]
    with (
        subprocess.Popen(line, stdin=-1, stdout=-1, pass_fds=fds) as first,
        subprocess.Popen(line, stdin=-1, stdout=-1, pass_fds=fds) as second,
    ):
        children = (first, second)
        for child in children:
            child.stdout.readline()
        used = memory.used_by_descendants(os.getpid())
        extra = sum(used[child.pid] - memory.used_by(child.pid) for child in children)
        assert abs(extra - 2 * memory.SOCKET_BYTES) < memory.SOCKET_BYTES
        for child in children:
            child.communicate(b"\n")
    ours.close()
    theirs.close()


def test_collapsing_changes_no_memory():
    script = (
        "from gradekit.untrusted import memory\n"
        "kept = bytearray(b'x') * (8 * 2**20)\n"
        "memory.collapse()\n"
        "print(kept.count(b'x') == 8 * 2**20)\n"
    )
    line = [sys.executable, "-c", script]
    assert subprocess.run(line, capture_output=True, text=True, check=True).stdout == "True\n"
