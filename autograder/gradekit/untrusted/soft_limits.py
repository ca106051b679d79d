"""What tells a notebook that it has met a limit, before the wall that would only end it.

Untrusted side, so a courtesy to honest students: code that means to can switch all of it off, and
then meets the walls.
"""

from __future__ import annotations

import math
import resource
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType, TracebackType

from gradekit.untrusted.limits import SPARE_PROCESSES, ExerciseLimits, LimitKind, Limits

_CELL = "ipython-input"
_SIGNS = (
    ("MemoryError: ", LimitKind.MEMORY),
    ("can't allocate memory", LimitKind.MEMORY),
    ("Cannot allocate memory", LimitKind.MEMORY),
    ("bad_alloc", LimitKind.MEMORY),
    ("File too large", LimitKind.FILE),
    ("FileTooLarge", LimitKind.FILE),
    ("No space left on device", LimitKind.FOLDER),
    ("StorageFull", LimitKind.FOLDER),
    # What torch.save and numpy.save make of either of the two above.
    ("unexpected pos", LimitKind.FILES),
    ("file write failed", LimitKind.FILES),
    (" requested and ", LimitKind.FILES),
    ("can't start new thread", LimitKind.PROCESSES),
    ("BlockingIOError: [Errno 11]", LimitKind.PROCESSES),
    ("Too many open files", LimitKind.OPEN_FILES),
)


class LimitReachedError(Exception):
    """A student's code met a limit.

    Attributes:
        met: the limit.
        where: the line in which it did, as far as that is known.
    """

    def __init__(self, met: LimitKind, where: str) -> None:
        super().__init__(met)
        self.met, self.where = met, where


def limit_in_error(kind: str, message: str) -> LimitKind | None:
    """The limit that an exception speaks of, by the name of its type and its message."""
    text = f"{kind}: {message}"
    return next((met for sign, met in _SIGNS if sign in text), None)


def set_soft_limits(limits: Limits) -> None:
    """Put the limits of which this process is told in front of those that end it."""
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (_at_most(limits.cpu_seconds, most), most))
    _, most = resource.getrlimit(resource.RLIMIT_NPROC)
    if most != resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_NPROC, (max(1, most - SPARE_PROCESSES), most))


@contextmanager
def raised_process_limit() -> Iterator[None]:
    """Within the block, as many processes as the wall allows: threads of cells may still run."""
    now, most = resource.getrlimit(resource.RLIMIT_NPROC)
    resource.setrlimit(resource.RLIMIT_NPROC, (most, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NPROC, (now, most))


@contextmanager
def exercise_limits(limits: ExerciseLimits) -> Iterator[None]:
    """Within the block, an exercise's memory and CPU time, where a wall stands behind them."""
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
def alarm(seconds: float, tell: Callable[[LimitKind, str], None]) -> Iterator[None]:
    """Call `tell` in the block once, after `seconds` of wall time or at the limit on CPU time.

    Args:
        seconds: wall time.
        tell: is told which it was, and the student's function in which it was, if any; what it
            raises is raised in the block.
    """
    rung = False

    def ring(number: int, frame: FrameType | None) -> None:
        nonlocal rung
        if not rung:
            rung = True
            tell(LimitKind.CPU if number == signal.SIGXCPU else LimitKind.TIME, function_of(frame))

    signal.signal(signal.SIGALRM, ring)
    signal.signal(signal.SIGXCPU, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGXCPU, signal.SIG_IGN)


def function_of(frame: FrameType | None) -> str:
    """The innermost function from `frame` outwards that a cell has defined; empty if none."""
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
    """``function`` or ``Class.method``; empty for what is nameless or not from a cell."""
    name = code.co_qualname.rpartition("<locals>.")[2]
    return name if _CELL in code.co_filename and "<" not in name else ""


def _at_most(number: int, most: int) -> int:
    return number if most == resource.RLIM_INFINITY else min(number, most)
