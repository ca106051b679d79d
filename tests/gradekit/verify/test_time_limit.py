"""A version in a loop ends at its limit, whatever it catches, and the next one has its own time."""

from __future__ import annotations

import signal
import time

import pytest

from gradekit.verify.time_limit import OutOfTimeError, time_limit


def loop_that_catches_errors() -> None:
    while True:
        try:
            time.sleep(0.01)
        except Exception:
            continue


def test_a_loop_that_catches_all_errors_ends() -> None:
    with pytest.raises(OutOfTimeError), time_limit(0.1):
        loop_that_catches_errors()


def test_nothing_is_left_of_a_limit_that_was_not_reached() -> None:
    before = signal.getsignal(signal.SIGALRM)
    with time_limit(60):
        assert signal.getsignal(signal.SIGALRM) is not before
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
