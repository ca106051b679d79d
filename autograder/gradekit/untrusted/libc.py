"""Calls of the C library for which Python has no function.

Tested in tests/gradekit/untrusted/test_libc.py.
"""

from __future__ import annotations

import ctypes
import os

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38


class IsolationError(RuntimeError):
    """The kernel refused a part of the isolation. The message says which part and why."""


def c_library() -> ctypes.CDLL:
    """The C library of this process."""
    return ctypes.CDLL(None, use_errno=True)


def checked(result: int, what: str) -> int:
    """The result of a call of the C library, if it is not negative.

    Args:
        result: of the last call.
        what: names the call in an error message.

    Raises:
        IsolationError: the call failed.
    """
    if result < 0:
        raise IsolationError(f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


def prctl(option: int, value: int | bytes, more: int | bytes = 0) -> None:
    """Set an attribute of this process; see prctl(2).

    Raises:
        IsolationError: the kernel refused.
    """
    checked(c_library().prctl(option, value, more, 0, 0), f"prctl {option}")


def drop_capability_bounds() -> None:
    """Keep every program that this process starts from gaining a capability."""
    capability = 0
    while c_library().prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0:
        capability += 1
