"""The trusted side of the level "landlock": whether this machine has it, and what it allows.

Landlock can only allow a folder with everything below it. So if a private folder is inside a shown
one, the policy allows its neighbours one by one instead.

Tested in tests/gradekit/sandbox/test_landlock_policy.py.
"""

from __future__ import annotations

import os
import platform
import socket
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from gradekit.errors import SandboxUnavailableError
from gradekit.files import LockedTempFolder
from gradekit.sandbox.bubblewrap import own_packages, shown_paths
from gradekit.untrusted import landlock, seccomp
from gradekit.untrusted.landlock_isolation import LandlockPolicy
from gradekit.untrusted.libc import IsolationError
from gradekit.untrusted.limits import Limits
from gradekit.untrusted.settings import ServerSettings

_PARENT = str(Path(landlock.__file__).parents[2])  # the folder of the package gradekit
_ENTERED = "entered"
_ERROR = f"{IsolationError.__module__}.{IsolationError.__name__}: "
_TRIAL = f"""
import sys
sys.path.insert(0, sys.argv[1])
from gradekit.untrusted.forkserver import isolation_of
from gradekit.untrusted.settings import ServerSettings
isolation_of(ServerSettings.from_json(sys.argv[3])).enter_outer(int(sys.argv[2]))
print({_ENTERED!r}, end="", flush=True)
"""


def why_unavailable() -> str | None:
    """Why this machine does not have the level, as half a sentence; None if it has it."""
    abi = landlock.abi()
    if abi == 0:
        return "the kernel has no Landlock, or does not use it (`lsm=` on its command line)"
    if abi < landlock.NEEDED_ABI:
        return (
            f"the kernel's Landlock has ABI {abi}, and {landlock.NEEDED_ABI} is needed "
            "(Linux 6.12) to keep signals within the sandbox"
        )
    if not seccomp.available():
        return f"the system call numbers of a {platform.machine()} processor are not known"
    return None


def why_refused() -> str | None:
    """Like :func:`why_unavailable`, after a trial: a process enters the outer domain."""
    if reason := why_unavailable():
        return reason
    folder = LockedTempFolder()
    try:
        return _refusal(folder.path)
    finally:
        folder.close()


def check() -> None:
    """Do nothing if this machine has the level, as far as that is known without a trial.

    Raises:
        SandboxUnavailableError: it does not.
    """
    if reason := why_unavailable():
        raise unavailable(reason)


def unavailable(reason: str) -> SandboxUnavailableError:
    """The error of a user who asked for this level where `why_unavailable` has a reason."""
    return SandboxUnavailableError(
        f"student code cannot be confined with Landlock: {reason}; install bubblewrap and omit "
        "`--sandbox landlock`, or grade on another machine"
    )


def _refusal(folder: Path) -> str | None:
    """Why a process cannot enter the outer domain. Other users must be able to enter `folder`."""
    folder.chmod(0o711)
    (folder / "scratch").mkdir()
    settings = ServerSettings(
        "landlock", Limits(), trains=False, policy=policy_for(folder, folder / "scratch")
    )
    ours, theirs = socket.socketpair()
    with ours, theirs:
        line = [sys.executable, "-I", "-S", "-B", "-c", _TRIAL, _PARENT, str(theirs.fileno())]
        done = subprocess.run(  # noqa: S603 - our own line, no shell
            [*line, settings.to_json()],
            pass_fds=[theirs.fileno()],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.stdout == _ENTERED:
        return None
    errors = done.stderr.strip().splitlines()[-1:] or ["it wrote no error"]
    return f"this system refuses it ({errors[0].removeprefix(_ERROR)})"


def policy_for(assembled: Path, scratch: Path, private: Iterable[Path] = ()) -> LandlockPolicy:
    """The paths that a fork server and its submissions may read and write.

    Args:
        assembled: the folder that :func:`gradekit.sandbox.bubblewrap.assemble` filled.
        scratch: an empty folder.
        private: folders that must not be readable, wherever they are.
    """
    hidden = [path.resolve() for path in private]
    own = [path.resolve() for path in own_packages()]
    readable: list[Path] = [assembled]
    listable: list[Path] = []
    for path in shown_paths():
        target = path.resolve()
        readable += _open_parts(path, [*hidden, *own])
        # Python lists folders to find modules; the names of our own packages' files are not secret.
        if not any(folder != target and folder.is_relative_to(target) for folder in hidden):
            listable.append(path)
    return LandlockPolicy(
        tuple(map(str, dict.fromkeys(readable))), tuple(map(str, listable)), str(scratch)
    )


def _open_parts(path: Path, hidden: list[Path]) -> list[Path]:
    """`path`, or the parts of it without `hidden`."""
    target = path.resolve()
    inside = [folder for folder in hidden if folder.is_relative_to(target) and folder != target]
    if not inside:
        return [path]
    parts = []
    with os.scandir(target) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            child = Path(entry.path)
            # The target of a link is allowed by its own name, or not at all.
            if not entry.is_symlink() and child not in inside:
                parts += _open_parts(child, inside)
    return parts
