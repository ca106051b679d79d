"""The second level's walls: Landlock domains, one within the other, and a strict list of calls.

    warden    domain A: the system, Python, our few files; one scratch folder; no network
      server    domain B: cannot signal the warden
        student   domain C: as A, but nothing of /proc; cannot signal the server

``kill(-1)`` reaches all that one may signal and not oneself: said by the server, exactly a
submission's processes, whatever they have become the children of; said by the warden, the server
and all of them. The kernel does it in one go, so that no fork bomb outruns it. The warden runs no
line of a submission, waits for the server or the trusted side to go away, and then ends the rest.

As root, all of them are an ordinary user that owns nothing, different for each worker.
"""

from __future__ import annotations

import inspect
import os
import select
import signal
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradekit.untrusted import drop_root, landlock, namespaces, scratch, seccomp, seccomp_landlock
from gradekit.untrusted.isolation import Isolation
from gradekit.untrusted.limits import Limits
from gradekit.untrusted.namespaces import IsolationError

_DEVICES = tuple(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom"))
_OWN = tuple(f"/proc/self/{name}" for name in ("fd", "maps", "stat", "statm", "status"))
_FACTS = ("/proc/cpuinfo", "/proc/meminfo", *_OWN)
_PR_SET_CHILD_SUBREAPER = 36
_WALL = 0x40000000  # children that do not say when they end, too


@dataclass(frozen=True)
class LandlockPolicy:
    """What the outer wall leaves open; made by the trusted side.

    Attributes:
        readable: paths to be read and run, with all below them.
        listable: folders in which names may be listed, with all below them.
        scratch: the folder to write in.
    """

    readable: tuple[str, ...]
    listable: tuple[str, ...]
    scratch: str

    def rights(self) -> dict[Path, int]:
        """What every process of the sandbox may do with files."""
        return {
            **landlock.each(self.listable, landlock.LIST),
            **landlock.each(self.readable, landlock.RUN),
            **landlock.each(_DEVICES, landlock.USE),
            Path(self.scratch): landlock.WRITE,
        }


class LandlockIsolation(Isolation):
    """The walls of the level "landlock"."""

    confined = True

    def __init__(self, policy: LandlockPolicy, limits: Limits) -> None:
        self._policy = policy
        self._limits = limits
        self._scratch = Path(policy.scratch)

    def enter_outer(self, control: int) -> None:
        """Become the warden, and return in a child of it, the server.

        Raises:
            IsolationError: the kernel refused a part of it.
        """
        trusted = os.getppid()
        handle = os.pidfd_open(trusted)
        if os.getuid() == 0:
            shown = [*self._policy.readable, *self._policy.listable]
            drop_root.drop_root(shown, self._scratch, self._limits.scratch_bytes)
        namespaces.hide_from_tracers()
        namespaces.without_privileges()
        # /proc, to count the memory of submissions.
        proc = {Path("/proc"): landlock.READ | landlock.USE}
        landlock.enter_domain(self._policy.rights() | proc)
        seccomp.install()
        _assert_out_of_reach(trusted)
        supervisor = os.getpid()
        server = os.fork()
        if server:
            _keep_watch(handle, control, os.pidfd_open(server))
        os.close(handle)
        namespaces.die_with_parent()
        landlock.leave_signals_behind()
        _assert_out_of_reach(supervisor)
        # Who loses its parent becomes the server's child, and is counted and ended with the rest.
        namespaces.prctl(_PR_SET_CHILD_SUBREAPER, 1)

    def prepare(self) -> None:
        """Bend what cannot work here."""
        load_without_workers()

    def fork(self) -> int:
        """Start a submission's process."""
        scratch.empty(self._scratch)
        return os.fork()

    def enter_inner(self) -> Path:
        """Confine this process, a submission's, for good; returns its working folder."""
        namespaces.show_to_tracers()  # the server counts its memory, and is not root
        others = _threads_of(os.getuid()) - 1
        namespaces.limit_resources(self._limits, self._limits.processes + others)
        facts = landlock.each(_FACTS, landlock.READ)
        landlock.enter_domain(self._policy.rights() | facts)
        seccomp.install(seccomp_landlock.rules())
        return self._scratch / "lab"

    def end(self, child: int) -> float:
        """End all of a submission's processes; returns the CPU seconds that they took."""
        return _end_all()

    def files_beyond_limit(self) -> int:
        """Bytes in the scratch folder, where they (or the number of files) are too many; or 0."""
        size, count = scratch.used(self._scratch)
        if size > self._limits.scratch_bytes or count > scratch.MAX_INODES:
            return max(size, 1)
        return 0


def load_without_workers() -> None:
    """Make every DataLoader load in its own process.

    Its workers would share memory through /dev/shm, which is everybody's and so refused. What a
    loader yields stays the same.
    """
    from torch.utils.data import DataLoader

    original = DataLoader.__init__
    signature = inspect.signature(original)
    of_workers = {"num_workers", "prefetch_factor", "persistent_workers", "timeout"}
    of_workers.add("multiprocessing_context")

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        given = signature.bind(self, *args, **kwargs).arguments
        original(**{name: value for name, value in given.items() if name not in of_workers})

    init.__doc__ = original.__doc__
    DataLoader.__init__ = init  # type: ignore[method-assign]


def _assert_out_of_reach(pid: int) -> None:
    """Make sure that this process cannot signal `pid`; else ``kill(-1)`` would end the wrong ones.

    Raises:
        IsolationError: it can.
    """
    with suppress(PermissionError):
        os.kill(pid, 0)
        raise IsolationError("Landlock does not keep signals within the sandbox")


def _keep_watch(trusted: int, control: int, server: int) -> None:
    """As the warden: wait until the server or the trusted side is gone; end all; never return."""
    poll = select.poll()
    poll.register(trusted, select.POLLIN)
    poll.register(control, 0)  # only its end: what is said there is for the server
    poll.register(server, select.POLLIN)
    poll.poll()
    _end_all()
    os._exit(0)


def _end_all() -> float:
    seconds = 0.0
    while True:
        with suppress(ProcessLookupError, PermissionError):  # nobody, or nobody in reach, is left
            os.kill(-1, signal.SIGKILL)
        try:
            _, _, usage = os.wait4(-1, _WALL)
        except ChildProcessError:
            return seconds
        seconds += usage.ru_utime + usage.ru_stime


def _threads_of(uid: int) -> int:
    """The threads of a user: what the kernel's limit on processes counts."""
    found = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError):  # it has ended
                status = Path("/proc", name, "status").read_text("utf-8", "replace")
                found += _threads_in(status, uid)
    return found


def _threads_in(status: str, uid: int) -> int:
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    owner: Sequence[str] = fields.get("Uid", "").split()
    return int(fields.get("Threads", "0")) if owner and int(owner[0]) == uid else 0
