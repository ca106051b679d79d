"""Soft limits: they report which limit a notebook exceeds, before a hard limit ends it silently.

Untrusted side, so they only help honest students. Hostile code can switch all of them off, and is
then stopped by the hard limits.

Tested in tests/gradekit/untrusted/test_soft_limits.py and tests/gradekit/sandbox/test_limits.py.
"""

from __future__ import annotations

import math
import resource
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType, TracebackType

from gradekit.untrusted.limits import (
    SPARE_FILES,
    SPARE_PROCESSES,
    ExerciseLimits,
    LimitKind,
    Limits,
)

_CELL = "ipython-input"
_SIGNS = (
    ("MemoryError: ", LimitKind.MEMORY),
    ("can't allocate memory", LimitKind.MEMORY),
    ("Cannot allocate memory", LimitKind.MEMORY),
    ("bad_alloc", LimitKind.MEMORY),
    ("File too large", LimitKind.FILE_SIZE),
    ("FileTooLarge", LimitKind.FILE_SIZE),
    ("No space left on device", LimitKind.TOTAL_FILE_SIZE),
    ("StorageFull", LimitKind.TOTAL_FILE_SIZE),
    # torch.save and numpy.save turn either of the two above into these.
    ("unexpected pos", LimitKind.FILE_OR_TOTAL_SIZE),
    ("file write failed", LimitKind.FILE_OR_TOTAL_SIZE),
    (" requested and ", LimitKind.FILE_OR_TOTAL_SIZE),
    ("can't start new thread", LimitKind.PROCESSES),
    ("BlockingIOError: [Errno 11]", LimitKind.PROCESSES),
    ("Too many open files", LimitKind.OPEN_FILES),
)


class LimitReachedError(Exception):
    """A student's code exceeded a limit.

    Attributes:
        limit: the limit.
        where: the line that exceeded it; empty if unknown.
    """

    def __init__(self, limit: LimitKind, where: str) -> None:
        super().__init__(limit)
        self.limit, self.where = limit, where


def limit_in_error(kind: str, message: str) -> LimitKind | None:
    """The limit that an exception is about, by the name of its type and its message."""
    text = f"{kind}: {message}"
    return next((limit for sign, limit in _SIGNS if sign in text), None)


def set_soft_limits(limits: Limits) -> None:
    """Set this process's soft limits below the hard ones that would end it."""
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (_at_most(limits.cpu_seconds, most), most))
    _, most = resource.getrlimit(resource.RLIMIT_NPROC)
    if most != resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_NPROC, (max(1, most - SPARE_PROCESSES), most))
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most == limits.open_files + SPARE_FILES:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limits.open_files, most))


@contextmanager
def room_for_a_fork() -> Iterator[None]:
    """In this block, allow as many processes and open files as the hard limits.

    Threads of cells may still run, and files of cells may still be open.
    """
    kinds = (resource.RLIMIT_NPROC, resource.RLIMIT_NOFILE)
    before = [(kind, resource.getrlimit(kind)) for kind in kinds]
    for kind, (_, most) in before:
        resource.setrlimit(kind, (most, most))
    try:
        yield
    finally:
        for kind, limits in before:
            resource.setrlimit(kind, limits)


@contextmanager
def exercise_limits(limits: ExerciseLimits) -> Iterator[None]:
    """In this block, limit memory and CPU time to an exercise's, if there are hard limits."""
    _, memory = resource.getrlimit(resource.RLIMIT_DATA)
    _, cpu = resource.getrlimit(resource.RLIMIT_CPU)
    if memory != resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_DATA, (min(limits.memory_bytes, memory), memory))
    if cpu != resource.RLIM_INFINITY:
        soft = math.ceil(time.process_time()) + limits.cpu_seconds
        resource.setrlimit(resource.RLIMIT_CPU, (min(soft, cpu - 1), cpu))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))


@contextmanager
def alarm(seconds: float, report: Callable[[LimitKind, str], None]) -> Iterator[None]:
    """Call `report` in the block once, after `seconds` of wall time or at the limit on CPU time.

    Args:
        seconds: wall time.
        report: gets the limit and the student's running function, if any; its exceptions are
            raised in the block.
    """
    reported = False

    def ring(number: int, frame: FrameType | None) -> None:
        nonlocal reported
        if not reported:
            reported = True
            report(_limit_of(signal.Signals(number)), function_of(frame))

    signal.signal(signal.SIGALRM, ring)
    signal.signal(signal.SIGXCPU, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGXCPU, signal.SIG_IGN)


def _limit_of(number: signal.Signals) -> LimitKind:
    match number:
        case signal.SIGALRM:
            return LimitKind.TIME
        case signal.SIGXCPU:
            return LimitKind.CPU
        case _:
            raise ValueError(f"no limit sends {number!r}")


def function_of(frame: FrameType | None) -> str:
    """The innermost function, from `frame` outwards, that a cell has defined; empty if none."""
    while frame is not None:
        if name := _name_of(frame.f_code):
            return name
        frame = frame.f_back
    return ""


def function_in(trace: TracebackType | None) -> str:
    """The innermost function of a traceback that a cell has defined; empty if none."""
    found = ""
    while trace is not None:
        found = _name_of(trace.tb_frame.f_code) or found
        trace = trace.tb_next
    return found


def _name_of(code: CodeType) -> str:
    """``function`` or ``Class.method``; empty if it has no name or is not from a cell."""
    name = code.co_qualname.rpartition("<locals>.")[2]
    return name if _CELL in code.co_filename and "<" not in name else ""


def _at_most(number: int, most: int) -> int:
    return number if most == resource.RLIM_INFINITY else min(number, most)
