"""A fair share of the processors: what one submission starts slows no other one down.

The kernel shares processors out among threads, or, where it can, among sessions. A submission of
fifty busy processes would leave a fiftieth to its neighbour, whose cells would then be stopped
for taking too long. So its session stays one
(see :data:`gradekit.untrusted.seccomp.ONE_SESSION`), and its threads together weigh as much as one.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from contextlib import suppress

# What honest code has is left as it is: a cell and the few helpers of a DataLoader.
FEW_THREADS = 4
# One step of niceness is about so much of a thread's weight; see sched(7).
_STEP = 1.25
_LOWEST = 19


def weigh_as_one_thread(pids: Iterable[int]) -> None:
    """Give the threads of these processes, where there are many, the weight of one in all."""
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
