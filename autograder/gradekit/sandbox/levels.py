"""The levels of isolation: whether this machine has one, and how to describe it.

A level that is not known is an error everywhere; it never means "none". Tested in
tests/gradekit/sandbox/test_levels.py.
"""

from __future__ import annotations

from typing import assert_never

from gradekit.sandbox import bubblewrap, landlock_policy
from gradekit.untrusted import landlock, seccomp
from gradekit.untrusted.limits import GIB, Limits
from gradekit.untrusted.settings import LEVELS, Level, level_named

__all__ = ["LEVELS", "Level", "check_level", "describe", "level_named"]


def check_level(name: str) -> None:
    """Do nothing if this machine has a level, as far as that is known without trying it.

    Raises:
        SandboxUnavailableError: bubblewrap is not installed, or Landlock lacks a part.
        ValueError: there is no such level.
    """
    match level_named(name):
        case "bubblewrap":
            bubblewrap.find()
        case "landlock":
            landlock_policy.check()
        case "none":
            pass
        case unknown:
            assert_never(unknown)


def describe(name: str = "bubblewrap", limits: Limits | None = None) -> str:
    """One line that says how student code is confined.

    Raises:
        SandboxUnavailableError: this machine cannot confine student code at that level.
        ValueError: there is no such level.
    """
    match level_named(name):
        case "bubblewrap":
            program = bubblewrap.find()
            bubblewrap.try_out(program)
            calls = " and a system call filter" if seccomp.available() else ""
            isolation = (
                f"{bubblewrap.version(program)} without network or your files; each submission in "
                f"its own namespaces{calls}"
            )
        case "landlock":
            landlock_policy.check()
            isolation = (
                f"Landlock (ABI {landlock.abi()}) and a strict system call filter, without network "
                "or your files' contents, not without their names, sizes and dates"
            )
        case "none":
            return "sandbox: none; student code can read and write what you can"
        case unknown:
            assert_never(unknown)
    limits = limits or Limits()
    return (
        f"sandbox: {isolation}, {limits.memory_bytes / GIB:g} GiB, {limits.processes} processes, "
        f"{limits.submission_seconds:g} s"
    )
