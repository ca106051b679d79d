"""The trusted side of the level "landlock": whether this machine has it, and what it leaves open.

Landlock can only allow, with all that lies below. So where a private folder lies within one that
is shown, its neighbours are allowed one by one instead.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from pathlib import Path

from gradekit.errors import SandboxUnavailableError
from gradekit.sandbox.bubblewrap import own_packages, shown_paths
from gradekit.untrusted import landlock, seccomp
from gradekit.untrusted.landlock_isolation import LandlockPolicy


def why_unavailable() -> str | None:
    """What this machine lacks for the level, as half a sentence; None where it has it all."""
    abi = landlock.abi()
    if abi == 0:
        return "the kernel has no Landlock, or does not use it (`lsm=` on its command line)"
    if abi < landlock.NEEDED_ABI:
        return (
            f"the kernel's Landlock has ABI {abi}, and {landlock.NEEDED_ABI} is needed "
            "(Linux 6.12) to keep signals within the sandbox"
        )
    if not seccomp.available():
        return f"the numbers of the system calls of a {platform.machine()} are not known"
    return None


def check() -> None:
    """Let pass a machine that has the level.

    Raises:
        SandboxUnavailableError: it has not.
    """
    if reason := why_unavailable():
        raise SandboxUnavailableError(
            f"student code cannot be confined with --sandbox landlock: {reason}; install "
            "bubblewrap and leave that option out, or grade on another machine"
        )


def policy_for(assembled: Path, scratch: Path, private: Iterable[Path] = ()) -> LandlockPolicy:
    """What a fork server and its submissions may read and write.

    Args:
        assembled: the folder that :func:`gradekit.sandbox.bubblewrap.assemble` filled.
        scratch: an empty folder.
        private: folders that must not be read, wherever they are.
    """
    hidden = [path.resolve() for path in private]
    own = [path.resolve() for path in own_packages()]
    readable: list[Path] = [assembled]
    listable: list[Path] = []
    for path in shown_paths():
        target = path.resolve()
        readable += _open_parts(path, [*hidden, *own])
        # Python finds modules by listing; the names of our own packages' files are no secret.
        if not any(place != target and place.is_relative_to(target) for place in hidden):
            listable.append(path)
    return LandlockPolicy(
        tuple(map(str, dict.fromkeys(readable))), tuple(map(str, listable)), str(scratch)
    )


def _open_parts(path: Path, hidden: list[Path]) -> list[Path]:
    """`path`, or what is left of it without `hidden`."""
    target = path.resolve()
    within = [place for place in hidden if place.is_relative_to(target) and place != target]
    if not within:
        return [path]
    parts = []
    with os.scandir(target) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            child = Path(entry.path)
            # A link leads somewhere: that is allowed by its own name, or not at all.
            if not entry.is_symlink() and child not in within:
                parts += _open_parts(child, within)
    return parts
