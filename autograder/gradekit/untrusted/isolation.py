"""What stands around the fork server and around each submission, by level of confinement."""

from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path

from gradekit.untrusted import namespaces
from gradekit.untrusted.limits import Limits
from gradekit.untrusted.processes import cpu_seconds, descendants


class Isolation:
    """A level of confinement, as the fork server uses it. This one is the level "none"."""

    confined = False

    def enter_outer(self, control: int) -> None:
        """Confine this process, the fork server to be; once."""

    def prepare(self) -> None:
        """Do what is left to do when all is imported, before the first submission."""

    def fork(self) -> int:
        """Start a submission's process."""
        return os.fork()

    def enter_inner(self) -> Path:
        """Confine this process, a submission's, for good; returns its working folder."""
        return Path(tempfile.mkdtemp(prefix="lab-"), "lab")

    def end(self, child: int) -> float:
        """End all of a submission's processes; returns the CPU seconds that they took."""
        os.kill(child, signal.SIGKILL)
        # The first process of a pid namespace is not waited for before all others have ended.
        _, _, usage = os.wait4(child, 0)
        return usage.ru_utime + usage.ru_stime

    def files_beyond_limit(self) -> int:
        """Bytes that a submission has written, where the kernel sets no limit; 0 if few enough."""
        return 0


class NamespaceIsolation(Isolation):
    """The level "bubblewrap": namespaces around each submission, within bubblewrap's."""

    confined = True

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def enter_outer(self, control: int) -> None:
        """Finish what bubblewrap began."""
        namespaces.enter_outer_namespaces()

    def fork(self) -> int:
        """Start the first process of a pid namespace."""
        return namespaces.fork_alone()

    def enter_inner(self) -> Path:
        """Move into namespaces in which there is nothing."""
        namespaces.enter_inner_namespaces(self._limits)
        return Path(namespaces.SCRATCH, "lab")

    def end(self, child: int) -> float:
        """End all of a submission's processes; returns the CPU seconds that they took."""
        # With a pid namespace's first process the kernel ends the others, waits for them itself,
        # and tells nobody what they had used.
        others = sum(map(cpu_seconds, descendants(child)))
        return others + super().end(child)
