"""Soft limits: which limit an error is about, and the alarm that names the running function."""

from __future__ import annotations

import signal
import time

import pytest

from gradekit.untrusted.limits import LimitKind
from gradekit.untrusted.soft_limits import (
    LimitReachedError,
    _limit_of,
    alarm,
    function_in,
    limit_in_error,
)


@pytest.mark.parametrize(
    ("kind", "message", "limit"),
    [
        ("MemoryError", "", LimitKind.MEMORY),
        ("RuntimeError", "[enforce fail] can't allocate memory: you tried", LimitKind.MEMORY),
        ("OSError", "[Errno 27] File too large", LimitKind.FILE_SIZE),
        ("OSError", "[Errno 28] No space left on device", LimitKind.TOTAL_FILE_SIZE),
        ("RuntimeError", "can't start new thread", LimitKind.PROCESSES),
        ("OSError", "[Errno 24] Too many open files", LimitKind.OPEN_FILES),
        ("ValueError", "too many values to unpack", None),
    ],
)
def test_errors_name_their_limit(kind, message, limit):
    assert limit_in_error(kind, message) is limit


def test_the_alarm_reports_once_and_its_error_ends_the_block():
    reports = []

    def report(limit, where):
        reports.append((limit, where))
        raise LimitReachedError(limit, where)

    source = "import time\ndef wait():\n    time.sleep(9)\n"
    names = {}
    exec(compile(source, "<ipython-input-1>", "exec"), names)
    before = signal.getsignal(signal.SIGALRM), signal.getsignal(signal.SIGXCPU)
    start = time.monotonic()
    try:
        with pytest.raises(LimitReachedError) as reached, alarm(0.1, report):
            names["wait"]()
    finally:
        signal.signal(signal.SIGALRM, before[0])
        signal.signal(signal.SIGXCPU, before[1])
    assert time.monotonic() - start < 5
    assert reports == [(LimitKind.TIME, "wait")]
    assert (reached.value.limit, reached.value.where) == (LimitKind.TIME, "wait")
    assert function_in(reached.value.__traceback__) == "wait"


def test_a_signal_of_no_limit_raises():
    assert _limit_of(signal.SIGXCPU) is LimitKind.CPU
    with pytest.raises(ValueError, match="SIGUSR1"):
        _limit_of(signal.SIGUSR1)
