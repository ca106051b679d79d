"""The processor time of a piece of work, as good as it can be measured beside other tests.

A collection of garbage, or another thread of the process, may fall into one try; rarely into three.
"""

from __future__ import annotations

import time
from collections.abc import Callable

_TRIES = 3


def cpu_seconds(work: Callable[[], object]) -> float:
    """The processor time that `work` takes in one try."""
    start = time.process_time()
    work()
    return time.process_time() - start


def least_cpu_seconds(work: Callable[[], object]) -> float:
    """The least processor time of three tries."""
    return min(cpu_seconds(work) for _ in range(_TRIES))


def takes_less_than(seconds: float, work: Callable[[], object]) -> bool:
    """Whether one of three tries takes less processor time; no further try follows it."""
    return any(cpu_seconds(work) < seconds for _ in range(_TRIES))
