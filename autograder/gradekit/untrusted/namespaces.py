"""The inner wall behind bubblewrap: what a process gives up between its fork and its first cell.

Runs inside the outer wall, in processes that have not read a byte of a submission. The fork server
takes a user and a pid namespace of its own, in which it may start processes that are the first of
a further pid namespace. Each of those, one a submission, covers what can be written with empty
scratch folders in memory and a /proc that shows itself alone, moves into a user, network and ipc
namespace of its own, and drops every capability, the way to new namespaces, and a list of system
calls.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
from pathlib import Path

from gradekit.untrusted import seccomp
from gradekit.untrusted.limits import SPARE_PROCESSES, SPARE_SECONDS, Limits

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
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP = 1, 4, 24
_PR_SET_NO_NEW_PRIVS = 38
_CAPABILITY_VERSION_3 = 0x20080522
_MAX_INODES = 20_000


class IsolationError(RuntimeError):
    """The kernel refused a part of the wall. The message says which part and why."""


def enter_outer_namespaces() -> None:
    """Finish what bubblewrap began: an ordinary user, no capabilities out there, alone in /proc.

    As root, bubblewrap is not asked for a user namespace (nested ones would fail) nor for /proc
    (it covers parts of root's, and a covered one cannot be mounted again further in), so both are
    done here.

    Raises:
        IsolationError: capabilities are left.
    """
    if os.getuid() == 0:
        _mount("proc", "/proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    without_privileges()
    _new_user_namespace(os.getuid(), os.getgid(), _CLONE_NEWPID | _CLONE_NEWNS)
    child = os.fork()  # only a child is within the pid namespace
    if child:
        os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) % 256)
    die_with_parent()
    _mount("none", "/", _MS_REC | _MS_PRIVATE, kind=None)
    _mount("proc", "/proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
    hide_from_tracers()


def fork_alone() -> int:
    """Like ``os.fork``; the child is the first process of a pid namespace, which ends with it.

    Raises:
        IsolationError: the kernel refused.
    """
    with open("/proc/self/ns/pid") as here:
        _check(_libc().unshare(_CLONE_NEWPID), "a new pid namespace")
        child = os.fork()
        if child:
            _check(_libc().setns(here.fileno(), _CLONE_NEWPID), "returning to the pid namespace")
        return child


def without_privileges() -> None:
    """Make sure that this process has no capability, and that nothing it starts can have any.

    Raises:
        IsolationError: capabilities are left.
    """
    status = Path("/proc/self/status").read_text("ascii", "replace")
    if "CapEff:\t0000000000000000" not in status or "CapPrm:\t0000000000000000" not in status:
        raise IsolationError("the fork server still has capabilities")
    prctl(_PR_SET_NO_NEW_PRIVS, 1)


def die_with_parent() -> None:
    """Be killed when the parent dies."""
    prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def hide_from_tracers() -> None:
    """Let no process of the same user look into this one."""
    prctl(_PR_SET_DUMPABLE, 0)


def show_to_tracers() -> None:
    """Let processes of the same user look into this one where nothing else forbids it."""
    prctl(_PR_SET_DUMPABLE, 1)


def own_mounts() -> bool:
    """Move into a mount namespace of one's own; False where this system refuses it."""
    if _libc().unshare(_CLONE_NEWNS) != 0:
        return False
    return _libc().mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None) == 0


def mount_folder(path: Path, options: str) -> None:
    """Cover a folder by an empty one in memory.

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
    """Confine this process, the first of its pid namespace, for good.

    Raises:
        IsolationError: the kernel refused.
    """
    _check(_libc().unshare(_CLONE_NEWNS), "a new mount namespace")
    _mount("none", "/", _MS_REC | _MS_PRIVATE, kind=None)
    options = f"size={limits.scratch_bytes},nr_inodes={_MAX_INODES},mode=1777"
    for place in (SCRATCH, "/dev/shm"):  # noqa: S108 - a mount point, not a file
        _mount("tmpfs", place, _MS_NOSUID | _MS_NODEV, options)
    _mount("proc", "/proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
    _new_user_namespace(STUDENT, STUDENT, _CLONE_NEWNET | _CLONE_NEWIPC)
    # Capabilities in a namespace of one's own are the way to most holes in kernels.
    Path("/proc/sys/user/max_user_namespaces").write_text("0")
    limit_resources(limits, limits.processes)
    _give_up_privileges()


def _new_user_namespace(uid: int, gid: int, others: int = 0) -> None:
    """Enter a user namespace in which this process's user is `uid`, and namespaces that it owns."""
    uid_outside, gid_outside = os.getuid(), os.getgid()
    _check(_libc().unshare(_CLONE_NEWUSER | others), "new namespaces")
    prctl(_PR_SET_DUMPABLE, 1)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {uid_outside} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid_outside} 1")


def limit_resources(limits: Limits, processes: int) -> None:
    """Set the limits that the kernel keeps for each process, on this one and its children.

    Args:
        limits: all but the number of processes.
        processes: how many this process's user may have, itself and those outside included.
    """
    for kind, most in (
        (resource.RLIMIT_DATA, limits.memory_bytes),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_NPROC, processes + SPARE_PROCESSES),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_CPU, limits.cpu_seconds + SPARE_SECONDS),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_CORE, 0),
        # Some systems let users raise what gradekit.untrusted.cpu_share has lowered.
        (resource.RLIMIT_NICE, 0),
        (resource.RLIMIT_RTPRIO, 0),
    ):
        resource.setrlimit(kind, (most, most))
    Path("/proc/self/oom_score_adj").write_text("1000")


def _give_up_privileges() -> None:
    """Drop every capability for good and filter system calls; last of all."""
    capability = 0
    while _libc().prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) == 0:
        capability += 1
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    _check(_libc().capset(header, nothing), "dropping capabilities")
    prctl(_PR_SET_NO_NEW_PRIVS, 1)
    seccomp.install([seccomp.ONE_SESSION])


def _mount(source: str, target: str, flags: int, options: str = "", kind: str | None = "") -> None:
    kind_name = None if kind is None else (kind or source).encode()
    result = _libc().mount(source.encode(), target.encode(), kind_name, flags, options.encode())
    _check(result, f"mounting {target}")


def prctl(option: int, value: int) -> None:
    """A process attribute of the kernel's.

    Raises:
        IsolationError: the kernel refused.
    """
    _check(_libc().prctl(option, value, 0, 0, 0), f"prctl {option}")


def _check(result: int, what: str) -> None:
    if result != 0:
        raise IsolationError(f"{what}: {os.strerror(ctypes.get_errno())}")


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
