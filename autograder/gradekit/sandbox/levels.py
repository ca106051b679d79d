"""The levels of isolation: which one a run gets, and how to describe it.

A level that is not known is an error everywhere; it never means "none". Tested in
tests/gradekit/sandbox/test_levels.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, assert_never

from gradekit.errors import CourseError, SandboxUnavailableError
from gradekit.sandbox import bubblewrap, landlock_policy
from gradekit.untrusted import landlock, seccomp
from gradekit.untrusted.settings import LEVELS, Level, level_named

__all__ = [
    "AUTO",
    "LEVELS",
    "REQUESTS",
    "ChosenLevel",
    "Level",
    "check_level",
    "check_request",
    "choose",
]

AUTO = "auto"  # the strongest level that this machine has; never "none"
REQUESTS = (AUTO, *LEVELS)
_NONE = (
    "sandbox: none. Student code can read and write what you can, and use the network; only for "
    "code that you trust."
)


@dataclass(frozen=True)
class ChosenLevel:
    """The level of a run.

    Attributes:
        line: how it confines student code, what it does not cover, and how to get a stronger one.
    """

    level: Level
    line: str


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


def check_request(request: str) -> None:
    """Refuse what ``--sandbox`` cannot be.

    Raises:
        CourseError: `request` is neither a level nor "auto".
    """
    if request not in REQUESTS:
        raise CourseError(f"--sandbox {request}: choose one of {', '.join(REQUESTS)}")


def choose(request: str = AUTO) -> ChosenLevel:
    """The level that a user asks for, tried out on this machine.

    Args:
        request: a level, or "auto": bubblewrap, or else Landlock, and never none.

    Raises:
        SandboxUnavailableError: this machine cannot confine student code in that way.
        ValueError: there is no such level.
    """
    requested: Level | Literal["auto"] = "auto" if request == AUTO else _known(request)
    match requested:
        case "auto":
            return _strongest()
        case "bubblewrap":
            if reason := bubblewrap.why_unavailable():
                raise bubblewrap.unavailable(reason)
            return _with_bubblewrap()
        case "landlock":
            if reason := landlock_policy.why_refused():
                raise landlock_policy.unavailable(reason)
            return _with_landlock(bubblewrap.why_unavailable())
        case "none":
            return ChosenLevel("none", _NONE)
        case unknown:
            assert_never(unknown)


def _known(request: str) -> Level:
    if request not in LEVELS:
        raise ValueError(
            f"there is no sandbox level {request!r}; choose one of {', '.join(REQUESTS)}"
        )
    return level_named(request)


def _strongest() -> ChosenLevel:
    no_bubblewrap = bubblewrap.why_unavailable()
    if no_bubblewrap is None:
        return _with_bubblewrap()
    no_landlock = landlock_policy.why_refused()
    if no_landlock is None:
        return _with_landlock(no_bubblewrap)
    raise SandboxUnavailableError(
        f"student code cannot be confined on this machine, so none is run: {no_bubblewrap}; "
        f"Landlock, which is weaker, is unavailable, too: {no_landlock}"
    )


def _with_bubblewrap() -> ChosenLevel:
    version = bubblewrap.version(bubblewrap.find())
    calls = ", a system call filter" if seccomp.available() else ""
    return ChosenLevel(
        "bubblewrap",
        f"sandbox: {version}, namespaces for each hand-in{calls}: no network, none of your files. "
        "Not covered: faults of the kernel, of bubblewrap and of the processor (docs/trust.md).",
    )


def _with_landlock(no_bubblewrap: str | None) -> ChosenLevel:
    stronger = f"but {no_bubblewrap}" if no_bubblewrap else "and this machine has it"
    return ChosenLevel(
        "landlock",
        f"sandbox: Landlock (ABI {landlock.abi()}), a strict system call filter: no network, no "
        "contents of your files. Not covered: whether a file exists, its size and dates; faults "
        f"of the kernel (docs/trust.md says what else). bubblewrap is stronger, {stronger}.",
    )
