"""Facts about processes from /proc: the parent of each, and the CPU time that it has used.

Tested in tests/gradekit/untrusted/test_processes.py.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

# Fields of /proc/PID/stat, counted from the one after the name; see proc_pid_stat(5).
_PARENT = 1
_TIMES = slice(11, 15)  # its own, user and system; then those of children it has waited for
_OWN_TIMES = slice(11, 13)
_START = 19


def descendants(ancestor: int) -> list[int]:
    """The processes that descend from `ancestor`."""
    known = parents()
    return [pid for pid in known if pid != ancestor and _is_below(pid, ancestor, known)]


def _is_below(pid: int, ancestor: int, known: dict[int, int]) -> bool:
    # The parents were not read at one moment. If a number was given again meanwhile, two processes
    # may be each other's parent.
    passed = set[int]()
    while pid in known and pid not in passed:
        passed.add(pid)
        pid = known[pid]
        if pid == ancestor:
            return True
    return False


def parents() -> dict[int, int]:
    """The parent of every visible process."""
    seen = {int(name): _stat(name) for name in os.listdir("/proc") if name.isdigit()}
    return {pid: int(fields[_PARENT]) for pid, fields in seen.items() if fields}


def status_in(folder: Path) -> dict[str, str]:
    """The lines of the file status in /proc/PID or of a thread; empty if it has ended.

    A process chooses its own name. Of all signs that begin a line, the kernel escapes one in it.
    """
    try:
        text = (folder / "status").read_bytes().decode("utf-8", "replace")
    except OSError:
        return {}
    return dict(line.split(":\t", 1) for line in text.split("\n") if ":\t" in line)


def cpu_seconds(pid: int) -> float:
    """CPU time of a process and of the children that it has waited for; 0 if it has ended."""
    return _seconds(_stat(str(pid))[_TIMES])


class CpuTime:
    """The CPU time of processes that are looked at again and again.

    The kernel forgets the time of a process that nobody waits for. So each process counts with the
    time that it had when it was last seen.
    """

    def __init__(self) -> None:
        self._seen: dict[tuple[int, str], float] = {}

    def total(self, pids: Iterable[int]) -> float:
        """Seconds of these processes and of all that were given before."""
        now = 0.0
        for pid in pids:
            if fields := _stat(str(pid)):
                now += _seconds(fields[_TIMES])
                self._seen[pid, fields[_START]] = _seconds(fields[_OWN_TIMES])
        # A child that was seen, and that its parent has waited for, is in both sums.
        return max(now, sum(self._seen.values()))


def _seconds(ticks: list[str]) -> float:
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def _stat(name: str) -> list[str]:
    try:
        text = Path("/proc", name, "stat").read_text("utf-8", "replace")
    except OSError:
        return []  # it has ended
    return text.rpartition(")")[2].split()
