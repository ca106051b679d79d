"""The isolation around the fork server and around each submission, as the fork server uses it.

One class per level of :data:`gradekit.untrusted.settings.Level`; the level "landlock" is in
landlock_isolation.py. Tested in tests/gradekit/untrusted/test_isolation.py.
"""

from __future__ import annotations

import os
import signal
import tempfile
from abc import ABC, abstractmethod
from pathlib import Path

from gradekit.untrusted import namespaces
from gradekit.untrusted.limits import Limits
from gradekit.untrusted.processes import cpu_seconds, descendants


class Isolation(ABC):
    """One level of isolation.

    Attributes:
        confined: whether student code is confined, and its limits are enforced.
    """

    confined: bool

    @abstractmethod
    def enter_outer(self, control: int) -> None:
        """Confine this process, which will be the fork server; called once.

        Args:
            control: the file descriptor of the control channel.
        """

    def prepare(self) -> None:
        """Do the rest, when all is imported, before the first submission."""
        return

    def fork(self) -> int:
        """Start a submission's process."""
        return os.fork()

    @abstractmethod
    def enter_inner(self) -> Path:
        """Confine this process, a submission's, for good; returns its working folder."""

    def end(self, child: int) -> float:
        """End all of a submission's processes; returns the CPU seconds that they used."""
        os.kill(child, signal.SIGKILL)
        # For the first process of a pid namespace, this waits until all others have ended.
        _, _, usage = os.wait4(child, 0)
        return usage.ru_utime + usage.ru_stime

    def files_beyond_limit(self) -> int:
        """Bytes that a submission has written, if they are too many; else 0.

        Always 0 if the kernel enforces that limit.
        """
        return 0


class NoIsolation(Isolation):
    """The level "none": student code can read and write what you can."""

    confined = False

    def enter_outer(self, control: int) -> None:
        """Change nothing."""

    def enter_inner(self) -> Path:
        """Make a working folder, and confine nothing."""
        return Path(tempfile.mkdtemp(prefix="lab-"), "lab")


class NamespaceIsolation(Isolation):
    """The level "bubblewrap": namespaces around each submission, inside bubblewrap's."""

    confined = True

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def enter_outer(self, control: int) -> None:
        """Complete bubblewrap's isolation."""
        namespaces.enter_outer_namespaces()

    def fork(self) -> int:
        """Start the first process of a pid namespace."""
        return namespaces.fork_into_pid_namespace()

    def enter_inner(self) -> Path:
        """Enter empty namespaces."""
        namespaces.enter_inner_namespaces(self._limits)
        return Path(namespaces.SCRATCH, "lab")

    def end(self, child: int) -> float:
        """End all of a submission's processes; returns the CPU seconds that they used."""
        # When the first process of a pid namespace ends, the kernel ends the others and waits for
        # them itself, and their CPU time appears nowhere.
        others = sum(map(cpu_seconds, descendants(child)))
        return others + super().end(child)
