"""The level "landlock": Landlock domains, one inside the other, and a strict list of system calls.

    monitor      domain A: the system, Python, our few files; one scratch folder; no network
      server       domain B: cannot signal the monitor
        submission   domain C: like A, but without /proc; cannot signal the server

``kill(-1)`` reaches every process that the caller may signal, except the caller. So from the
server it ends exactly a submission's processes, even those with another parent now; from the
monitor, it ends the server and all of those. The kernel does it in one step, so a fork bomb cannot
outrun it. The monitor runs no line of a submission. It waits until the server or the trusted side
ends, and then ends the rest.

As root, all of them become an ordinary user that owns nothing, another one for each worker.

Tested in tests/gradekit/untrusted/test_landlock_isolation.py and tests/attacks.
"""

from __future__ import annotations

import inspect
import os
import select
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from gradekit.untrusted import (
    drop_root,
    landlock,
    libc,
    namespaces,
    scratch,
    seccomp,
    seccomp_landlock,
)
from gradekit.untrusted.isolation import Isolation
from gradekit.untrusted.libc import IsolationError
from gradekit.untrusted.limits import Limits
from gradekit.untrusted.processes import status_in

# Not /dev/zero: a shared mapping of it is memory that no limit counts (see seccomp.py).
_DEVICES = tuple(f"/dev/{name}" for name in ("null", "full", "random", "urandom"))
_OWN = tuple(f"/proc/self/{name}" for name in ("fd", "maps", "stat", "statm", "status"))
_FACTS = ("/proc/cpuinfo", "/proc/meminfo", *_OWN)
_WAIT_FOR_ALL = 0x40000000  # __WALL of wait4(2): also children that send no signal at their end


@dataclass(frozen=True)
class LandlockPolicy:
    """What the outer domain allows; the trusted side makes it.

    Attributes:
        readable: paths that may be read and run, with all below them.
        listable: folders whose names may be listed, with all below them.
        scratch: the folder that may be written to.
    """

    readable: tuple[str, ...]
    listable: tuple[str, ...]
    scratch: str

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> LandlockPolicy:
        """The policy with these values, as JSON has them."""
        return cls(tuple(values["readable"]), tuple(values["listable"]), values["scratch"])

    def rights(self) -> dict[Path, int]:
        """The rights to files that every process of the sandbox has."""
        return {
            **landlock.each(self.listable, landlock.LIST),
            **landlock.each(self.readable, landlock.RUN),
            **landlock.each(_DEVICES, landlock.USE),
            Path(self.scratch): landlock.WRITE,
        }


class LandlockIsolation(Isolation):
    """The level "landlock"."""

    confined = True

    def __init__(self, policy: LandlockPolicy, limits: Limits) -> None:
        self._policy = policy
        self._limits = limits
        self._scratch = Path(policy.scratch)

    def enter_outer(self, control: int) -> None:
        """Become the monitor, and return in a child of it, the server.

        Raises:
            IsolationError: the kernel refused a part of it.
        """
        trusted = os.getppid()
        handle = os.pidfd_open(trusted)
        if os.getuid() == 0:
            shown = [*self._policy.readable, *self._policy.listable]
            drop_root.drop_root(shown, self._scratch, self._limits.scratch_bytes)
        namespaces.hide_from_tracers()
        namespaces.assert_unprivileged()
        # The server reads /proc to count the memory of submissions.
        proc = {Path("/proc"): landlock.READ | landlock.USE}
        landlock.enter_domain(self._policy.rights() | proc)
        seccomp.install()
        _assert_cannot_signal(trusted)
        monitor = os.getpid()
        server = os.fork()
        if server:
            _monitor(handle, control, os.pidfd_open(server))
        os.close(handle)
        namespaces.die_with_parent()
        landlock.forbid_signals_outside()
        _assert_cannot_signal(monitor)
        # A process whose parent ends becomes the server's child: it is counted and ended with the
        # rest.
        libc.prctl(libc.PR_SET_CHILD_SUBREAPER, 1)

    def prepare(self) -> None:
        """Replace what cannot work at this level."""
        load_without_workers()

    def fork(self) -> int:
        """Start a submission's process."""
        scratch.empty(self._scratch)
        return os.fork()

    def enter_inner(self) -> Path:
        """Confine this process, a submission's, for good; returns its working folder."""
        namespaces.show_to_tracers()  # so that the server, which is not root, can count its memory
        others = _threads_of(os.getuid()) - 1
        namespaces.limit_resources(self._limits, self._limits.processes + others)
        facts = landlock.each(_FACTS, landlock.READ)
        landlock.enter_domain(self._policy.rights() | facts)
        seccomp.install(seccomp_landlock.rules())
        return self._scratch / "lab"

    def end(self, child: int) -> float:
        """End all of a submission's processes; returns the CPU seconds that they used."""
        return _end_all()

    def files_beyond_limit(self) -> int:
        """Bytes in the scratch folder, if they or its files are too many; else 0."""
        size, count = scratch.used(self._scratch)
        if size > self._limits.scratch_bytes or count > scratch.MAX_INODES:
            return max(size, 1)
        return 0


def load_without_workers() -> None:
    """Make every DataLoader load in its own process.

    Its workers would share memory through /dev/shm, which belongs to all users and so is refused.
    A loader's batches stay the same.
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


def _assert_cannot_signal(pid: int) -> None:
    """Ensure that this process cannot signal `pid`, so ``kill(-1)`` will not end it.

    Raises:
        IsolationError: it can.
    """
    with suppress(PermissionError):
        os.kill(pid, 0)
        raise IsolationError("Landlock does not keep signals within the sandbox")


def _monitor(trusted: int, control: int, server: int) -> NoReturn:
    """As the monitor: wait until the server or the trusted side has ended, then end all."""
    poll = select.poll()
    poll.register(trusted, select.POLLIN)
    poll.register(control, 0)  # only its end; its messages are for the server
    poll.register(server, select.POLLIN)
    poll.poll()
    _end_all()
    os._exit(0)


def _end_all() -> float:
    seconds = 0.0
    while True:
        with suppress(ProcessLookupError, PermissionError):  # no process that it may signal is left
            os.kill(-1, signal.SIGKILL)
        try:
            _, _, usage = os.wait4(-1, _WAIT_FOR_ALL)
        except ChildProcessError:
            return seconds
        seconds += usage.ru_utime + usage.ru_stime


def _threads_of(uid: int) -> int:
    """The threads of a user, which the kernel's limit on processes counts."""
    found = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            found += _threads_in(status_in(Path("/proc", name)), uid)
    return found


def _threads_in(fields: Mapping[str, str], uid: int) -> int:
    owner: Sequence[str] = fields.get("Uid", "").split()
    return int(fields.get("Threads", "0")) if owner and int(owner[0]) == uid else 0
