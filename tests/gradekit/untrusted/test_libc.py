"""Calls of the C library, and the error of a refused one."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from gradekit.untrusted import libc


def test_a_refused_call_is_an_error_with_its_reason():
    result = libc.c_library().setns(-1, 0)
    with pytest.raises(libc.IsolationError, match="a namespace: Bad file descriptor"):
        libc.checked(result, "a namespace")


def test_a_result_that_is_not_negative_is_returned():
    assert libc.checked(libc.c_library().getpid(), "the process") == os.getpid()


def test_an_unknown_attribute_is_refused():
    with pytest.raises(libc.IsolationError, match="prctl 9999: Invalid argument"):
        libc.prctl(9999, 1)


def test_attributes_are_set():
    script = (
        "from pathlib import Path\n"
        "from gradekit.untrusted import libc\n"
        "libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)\n"
        "libc.drop_capability_bounds()\n"
        "print(Path('/proc/self/status').read_text())\n"
    )
    line = [sys.executable, "-c", script]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    assert "NoNewPrivs:\t1\n" in done.stdout
    if os.getuid() == 0:
        assert "CapBnd:\t0000000000000000\n" in done.stdout
