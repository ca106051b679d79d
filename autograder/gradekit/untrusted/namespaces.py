"""Namespaces, at the level "bubblewrap": what a process gives up between its fork and its cells.

Runs inside the outer isolation, in processes that have not read a byte of a submission. The fork
server enters a user and a pid namespace of its own, in which it may start processes that are the
first of a further pid namespace. There is one of these per submission. It covers every writable
folder with an empty one in memory, and mounts a /proc that shows only its own namespace. It then
enters a user, a network and an ipc namespace of its own. In the end it drops every capability, the
way to new namespaces and a list of system calls.

Tested in tests/gradekit/sandbox/test_sandbox.py and tests/attacks, where processes enter them.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
from pathlib import Path

from gradekit.untrusted import libc, scratch, seccomp
from gradekit.untrusted.libc import IsolationError, c_library, checked
from gradekit.untrusted.limits import (
    SPARE_FILES,
    SPARE_PROCESSES,
    SPARE_SECONDS,
    WAITING_SIGNALS,
    Limits,
)

SCRATCH = "/scratch"
NOBODY = 65534
STUDENT = 1000

_CLONE_NEWNS = 0x00020000
_CLONE_NEWIPC = 0x08000000
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWPID = 0x20000000
_CLONE_NEWNET = 0x40000000
NAMESPACES = _CLONE_NEWNS | _CLONE_NEWIPC | _CLONE_NEWUSER | _CLONE_NEWPID | _CLONE_NEWNET

_MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 2, 4, 8
_MS_BIND, _MS_REC, _MS_PRIVATE = 0x1000, 0x4000, 0x40000
_CAPABILITY_VERSION_3 = 0x20080522


def enter_outer_namespaces() -> None:
    """Complete bubblewrap's isolation: an ordinary user, no capabilities outside, a /proc alone.

    As root, bubblewrap creates no user namespace (nested ones would fail) and no /proc (it covers
    parts of root's, and a covered one cannot be mounted again further in), so both are done here.

    Raises:
        IsolationError: capabilities are left.
    """
    if os.getuid() == 0:
        _mount("proc", "/proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    assert_unprivileged()
    _new_user_namespace(os.getuid(), os.getgid(), _CLONE_NEWPID | _CLONE_NEWNS)
    child = os.fork()  # only a child is inside the pid namespace
    if child:
        os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) % 256)
    die_with_parent()
    _mount("none", "/", _MS_REC | _MS_PRIVATE, kind=None)
    _mount("proc", "/proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
    hide_from_tracers()


def fork_into_pid_namespace() -> int:
    """Like ``os.fork``; the child is the first process of a pid namespace, which ends with it.

    Raises:
        IsolationError: the kernel refused.
    """
    with open("/proc/self/ns/pid") as here:
        checked(c_library().unshare(_CLONE_NEWPID), "a new pid namespace")
        child = os.fork()
        if child:
            left = c_library().setns(here.fileno(), _CLONE_NEWPID)
            checked(left, "returning to the pid namespace")
        return child


def assert_unprivileged() -> None:
    """Ensure that this process has no capability, and that nothing it starts can gain one.

    Raises:
        IsolationError: capabilities are left.
    """
    status = Path("/proc/self/status").read_text("ascii", "replace")
    if "CapEff:\t0000000000000000" not in status or "CapPrm:\t0000000000000000" not in status:
        raise IsolationError("the fork server still has capabilities")
    libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent ends."""
    libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)


def hide_from_tracers() -> None:
    """Keep other processes of the same user from reading this one's memory."""
    libc.prctl(libc.PR_SET_DUMPABLE, 0)


def show_to_tracers() -> None:
    """Let processes of the same user read this one's memory, unless something else forbids it."""
    libc.prctl(libc.PR_SET_DUMPABLE, 1)


def own_mounts() -> bool:
    """Enter a mount namespace of this process's own; False if this system refuses it."""
    if c_library().unshare(_CLONE_NEWNS) != 0:
        return False
    return c_library().mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None) == 0


def mount_folder(path: Path, options: str) -> None:
    """Cover a folder with an empty one in memory.

    Raises:
        IsolationError: the kernel refused.
    """
    _mount("tmpfs", str(path), _MS_NOSUID | _MS_NODEV, options)


def bind(source: str, target: Path) -> None:
    """Show `source` at `target`, too.

    Raises:
        IsolationError: the kernel refused.
    """
    _mount(source, str(target), _MS_BIND | _MS_REC, kind=None)


def enter_inner_namespaces(limits: Limits) -> None:
    """Isolate this process, the first of its pid namespace, for good.

    Raises:
        IsolationError: the kernel refused.
    """
    checked(c_library().unshare(_CLONE_NEWNS), "a new mount namespace")
    _mount("none", "/", _MS_REC | _MS_PRIVATE, kind=None)
    options = f"size={limits.scratch_bytes},nr_inodes={scratch.MAX_INODES},mode=1777"
    for folder in (SCRATCH, "/dev/shm"):  # noqa: S108 - a mount point, not a file
        _mount("tmpfs", folder, _MS_NOSUID | _MS_NODEV, options)
    _mount("proc", "/proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
    _new_user_namespace(STUDENT, STUDENT, _CLONE_NEWNET | _CLONE_NEWIPC)
    # Capabilities in a namespace of one's own are the way to most vulnerabilities of kernels.
    Path("/proc/sys/user/max_user_namespaces").write_text("0")
    limit_resources(limits, limits.processes)
    _give_up_privileges()


def _new_user_namespace(uid: int, gid: int, others: int = 0) -> None:
    """Enter a user namespace in which this process's user is `uid`, and `others` that it owns."""
    uid_outside, gid_outside = os.getuid(), os.getgid()
    checked(c_library().unshare(_CLONE_NEWUSER | others), "new namespaces")
    show_to_tracers()
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {uid_outside} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid_outside} 1")


def limit_resources(limits: Limits, processes: int) -> None:
    """Set the kernel's limits for this process and each of its children.

    Args:
        limits: all but the number of processes.
        processes: the most that this process's user may have, itself and those outside included.
    """
    for kind, most in (
        (resource.RLIMIT_DATA, limits.memory_bytes),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_NPROC, processes + SPARE_PROCESSES),
        (resource.RLIMIT_NOFILE, limits.open_files + SPARE_FILES),
        (resource.RLIMIT_CPU, limits.cpu_seconds + SPARE_SECONDS),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_SIGPENDING, WAITING_SIGNALS),
        # Not 0: with 0 the kernel still starts the system's program for core dumps, outside of
        # every sandbox, if there is one (core(5)); with 1 it writes none and starts nothing.
        (resource.RLIMIT_CORE, 1),
        # Some systems let users raise a priority that gradekit.untrusted.cpu_share has lowered.
        (resource.RLIMIT_NICE, 0),
        (resource.RLIMIT_RTPRIO, 0),
    ):
        resource.setrlimit(kind, (most, most))
    Path("/proc/self/oom_score_adj").write_text("1000")


def _give_up_privileges() -> None:
    """Drop every capability for good and filter system calls; this comes last."""
    libc.drop_capability_bounds()
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    checked(c_library().capset(header, nothing), "dropping capabilities")
    libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
    clone = seccomp.Rule(seccomp.CLONE, (seccomp.ONE_TABLE,))
    separated = (seccomp.SEPARATED_SOCKETS, clone, seccomp.NO_CLONE3)
    seccomp.install([*seccomp.OF_A_SUBMISSION, *separated])


def _mount(source: str, target: str, flags: int, options: str = "", kind: str | None = "") -> None:
    kind_name = None if kind is None else (kind or source).encode()
    result = c_library().mount(source.encode(), target.encode(), kind_name, flags, options.encode())
    checked(result, f"mounting {target}")
