"""A fair share of CPU time: the processes of one submission do not slow down the others.

The kernel divides CPU time among threads or, if it can, among sessions. A submission of fifty busy
processes would leave a fiftieth to its neighbour, whose cells would then be stopped for taking too
long. So a submission stays one session (see :data:`gradekit.untrusted.seccomp.ONE_SESSION`), and
its threads together have the weight of one thread.

Tested in tests/attacks/test_starving_others.py.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from contextlib import suppress

# The most that honest code has, a cell and the few helpers of a DataLoader. It stays unchanged.
FEW_THREADS = 4
# One step of niceness divides a thread's weight by about this; see sched(7).
_STEP = 1.25
_LOWEST = 19


def weigh_as_one_thread(pids: Iterable[int]) -> None:
    """If these processes have many threads, give them together the weight of one."""
    threads = [thread for pid in pids for thread in _threads(pid)]
    if len(threads) <= FEW_THREADS:
        return
    own = os.getpriority(os.PRIO_PROCESS, 0)
    niceness = min(_LOWEST, own + math.ceil(math.log(len(threads), _STEP)))
    for thread in threads:
        with suppress(ProcessLookupError):  # it has ended
            if os.getpriority(os.PRIO_PROCESS, thread) < niceness:
                os.setpriority(os.PRIO_PROCESS, thread, niceness)


def _threads(pid: int) -> list[int]:
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return []  # it has ended
