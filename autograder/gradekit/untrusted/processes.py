"""Facts about processes from /proc: the parent of each, and the CPU time that it has used.

Tested in tests/gradekit/untrusted/test_processes.py.
"""

from __future__ import annotations

import os
from pathlib import Path

# Fields of /proc/PID/stat, counted from the one after the name; see proc_pid_stat(5).
_PARENT = 1
_TIMES = slice(11, 15)  # its own, user and system; then those of children it has waited for


def descendants(ancestor: int) -> list[int]:
    """The processes that descend from `ancestor`."""
    known = parents()
    return [pid for pid in known if pid != ancestor and _is_below(pid, ancestor, known)]


def _is_below(pid: int, ancestor: int, known: dict[int, int]) -> bool:
    while pid in known:
        pid = known[pid]
        if pid == ancestor:
            return True
    return False


def parents() -> dict[int, int]:
    """The parent of every visible process."""
    seen = {int(name): _stat(name) for name in os.listdir("/proc") if name.isdigit()}
    return {pid: int(fields[_PARENT]) for pid, fields in seen.items() if fields}


def cpu_seconds(pid: int) -> float:
    """CPU time of a process and of the children that it has waited for; 0 if it has ended."""
    return sum(map(int, _stat(str(pid))[_TIMES])) / os.sysconf("SC_CLK_TCK")


def _stat(name: str) -> list[str]:
    try:
        text = Path("/proc", name, "stat").read_text("utf-8", "replace")
    except OSError:
        return []  # it has ended
    return text.rpartition(")")[2].split()
