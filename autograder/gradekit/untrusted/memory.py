"""Memory: how much the processes below one process use, and how to make its forks cheaper.

Tested in tests/gradekit/untrusted/test_memory.py and tests/attacks/test_memory_hogs.py.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from gradekit.untrusted.libc import c_library
from gradekit.untrusted.processes import descendants, status_in

_MADV_COLLAPSE = 25
_HUGE = 2 * 2**20
# The kernel charges no process for what waits in a socket. This is the largest buffer that a
# program may ask for, unless the system's net.core.wmem_max was raised.
SOCKET_BYTES = 2 * 212_992


def collapse() -> None:
    """Move this process's memory into huge pages, which makes a fork 3 × cheaper.

    Does nothing before Linux 6.1.
    """
    library = c_library()
    library.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    for line in Path("/proc/self/maps").read_text("utf-8", "replace").splitlines():
        span, access, _, _, inode = line.split()[:5]
        if access != "rw-p" or inode != "0":
            continue
        start, end = (int(address, 16) for address in span.split("-"))
        for address in range(-(-start // _HUGE) * _HUGE, end // _HUGE * _HUGE, _HUGE):
            library.madvise(address, _HUGE, _MADV_COLLAPSE)


def used_by_descendants(ancestor: int) -> dict[int, int]:
    """Bytes of memory of each process below `ancestor`, by its number.

    Pages that several processes share are divided among them, so a fork counts for the pages that
    it changes. Pages shared with `ancestor` itself count in part. Swapped pages and page tables
    count, and each socket once, as much as its buffer can hold.
    """
    sockets: set[str] = set()
    used = {}
    for pid in descendants(ancestor):
        own = _sockets_of(pid) - sockets
        sockets |= own
        used[pid] = used_by(pid) + len(own) * SOCKET_BYTES
    return used


def resident(pids: Iterable[int]) -> int:
    """Bytes of memory of these processes; shared pages count once for each process.

    Every place for an open file counts as a socket. So this is never less than the sum of
    :func:`used_by_descendants`, and it is a hundred times faster.
    """
    return sum(map(_at_most, pids))


def used_by(pid: int) -> int:
    """Bytes of one process, its part of shared pages and its page tables; 0 if it has ended."""
    folder = _folder(pid)
    status = status_in(folder)
    try:
        text = (folder / "smaps_rollup").read_text("ascii", "replace")
    except PermissionError:
        # It hides which pages it shares, so all of them count.
        return _kib(status, "VmRSS") + _kib(status, "VmSwap") + _kib(status, "VmPTE")
    except OSError:
        return 0  # it has ended
    # What a process has had swapped out is memory of the machine, too.
    own = [line.split() for line in text.splitlines() if line.startswith(("Pss:", "SwapPss:"))]
    return sum(int(words[1]) for words in own) * 1024 + _kib(status, "VmPTE") if own else 0


def _folder(pid: int) -> Path:
    """The folder in /proc that shows a process's memory and files.

    It is that of another thread if the first one has ended: then the process looks as if it had
    ended, too.
    """
    own = Path("/proc", str(pid))
    if "VmRSS" in status_in(own):
        return own
    with suppress(OSError):  # it has ended
        threads = (own / "task" / thread for thread in os.listdir(own / "task"))
        return next((folder for folder in threads if "VmRSS" in status_in(folder)), own)
    return own


def _at_most(pid: int) -> int:
    status = status_in(_folder(pid))
    files = int(status.get("FDSize", "0")) * SOCKET_BYTES
    return _kib(status, "VmRSS") + _kib(status, "VmSwap") + _kib(status, "VmPTE") + files


def _sockets_of(pid: int) -> set[str]:
    """The sockets that a process has open; if it hides them, as many as it has open files."""
    folder = _folder(pid)
    found = set()
    try:
        for name in os.listdir(folder / "fd"):
            with suppress(FileNotFoundError):  # closed by now
                target = os.readlink(folder / "fd" / name)
                if target.startswith("socket:"):
                    found.add(target)
    except PermissionError:
        return {f"{pid}/{place}" for place in range(int(status_in(folder).get("FDSize", "0")))}
    except OSError:
        return set()  # it has ended
    return found


def _kib(status: Mapping[str, str], name: str) -> int:
    return int(status.get(name, "0").split()[0]) * 1024
