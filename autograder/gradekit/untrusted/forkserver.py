"""The fork server: imports torch and all else once, then forks one process per submission.

Runs inside the outer isolation, as ``python -m gradekit.untrusted.forkserver FD SETTINGS``. It
never reads a byte of a submission and never runs a line of one; it starts the submission's process,
watches what it uses, ends it and reports that. Messages on the control channel are one JSON packet
each:

    ──► {"run": true} + the submission's channel
    ──► {"stop": true}
    ◄── {"ready": true}                          once, when all is imported
    ◄── {"memory": bytes}                        a process was killed for its memory
    ◄── {"files": bytes}                         the submission was ended for its files
    ◄── {"ended": true, "cpu": s, "peak": bytes} nothing of the submission is left; where it was
                                                 ended for its processor time, s says so
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import sys
import threading
import time
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any

from gradekit.untrusted import memory, namespaces
from gradekit.untrusted.cpu_share import weigh_as_one_thread
from gradekit.untrusted.imports import gc_disabled
from gradekit.untrusted.isolation import Isolation, NamespaceIsolation
from gradekit.untrusted.landlock_isolation import LandlockIsolation, LandlockPolicy
from gradekit.untrusted.limits import SPARE_SECONDS, Limits
from gradekit.untrusted.processes import cpu_seconds, descendants

WATCH_SECONDS = 0.1
_MAX_WARNINGS = 5
_WARM_MODULES = (
    "attnlab.checking.judges",
    "gradekit.untrusted.runner",
    "torch.nn.functional",
    "numpy.random",
    # Which backward() imports where it is given a gradient, and sympy with it.
    "torch.fx.experimental.symbolic_shapes",
)
_WARM_CELLS = (
    "import torch, matplotlib.pyplot as plt\n"
    "x = torch.randn(4, 3, requires_grad=True)\n"
    "(x @ x.T).softmax(-1).sum().backward()\n"
    "print(x)\nx",
    "fig, axes = plt.subplots(1, 2)\n"
    "axes[0].plot([1, 2], label='a'); axes[0].legend(); axes[0].set_title('$d_k$')\n"
    "fig.colorbar(axes[1].imshow([[1, 2], [3, 4]]))\nplt.show()",
    "1 / 0",
    "%time 1\nlen('a'",
)
# The first optimiser takes a second: it makes torch import what compiles models.
_TRAINING_CELL = "import torch\ntorch.optim.Adam([torch.zeros(1, requires_grad=True)]).step()"


def main(arguments: list[str]) -> None:
    """Enter the outer wall, import everything, then serve until the control channel closes."""
    control = socket.socket(fileno=int(arguments[0]))
    settings = json.loads(arguments[1])
    limits = Limits(**settings["limits"])
    isolation = isolation_of(settings["level"], limits, settings.get("grants"))
    isolation.enter_outer(control.fileno())
    with gc_disabled():
        shell = warm_shell(settings["trains"])
    isolation.prepare()
    assert_single_thread()
    gc.freeze()
    memory.collapse()
    control.send(json.dumps({"ready": True}).encode())
    while True:
        packet, channels, _, _ = socket.recv_fds(control, 4096, 1)
        if not packet:
            return
        if "run" in json.loads(packet):
            _Submission(control, channels[0], shell, limits, isolation).run()


def isolation_of(level: str, limits: Limits, policy: dict[str, Any] | None) -> Isolation:
    """The walls of a level of confinement; only landlock's has `grants`."""
    if policy is not None:
        return LandlockIsolation(LandlockPolicy(**policy), limits)
    return NamespaceIsolation(limits) if level == "bubblewrap" else Isolation()


def warm_shell(trains: bool) -> Any:
    """A shell in which everything that labs use has been imported and touched once.

    Args:
        trains: also what only labs use in which a model is trained.
    """
    from gradekit.untrusted.cell_output import Outputs
    from gradekit.untrusted.shell import collecting, make_shell, run_cell

    for module in _WARM_MODULES:
        importlib.import_module(module)
    _import_all("attnlab")
    shell = make_shell()
    outputs = Outputs(2**20, 2**24)
    with collecting(shell, outputs):
        for source in (*_WARM_CELLS, *([_TRAINING_CELL] if trains else [])):
            outputs.begin()
            run_cell(shell, source, 60.0)
            outputs.finish()
    shell.reset(new_session=True)
    return shell


def _import_all(package: str) -> None:
    """Import a package's modules where they can be imported; notebooks will want some of them."""
    with suppress(Exception):
        root = importlib.import_module(package)
        for module in pkgutil.walk_packages(root.__path__, package + ".", onerror=lambda _: None):
            with suppress(Exception):
                if not module.name.endswith("__main__"):
                    importlib.import_module(module.name)


def assert_single_thread(seconds: float = 5.0) -> None:
    """Wait until this process has one thread; a fork of more would hang in the child."""
    deadline = time.monotonic() + seconds
    while len(os.listdir("/proc/self/task")) > 1:
        if time.monotonic() > deadline:
            names = ", ".join(thread.name for thread in threading.enumerate())
            raise RuntimeError(f"the fork server has more than one thread ({names})")
        time.sleep(0.01)


class _Submission:
    """One submission's process, from its fork until nothing of it is left."""

    def __init__(
        self, control: socket.socket, channel: int, shell: Any, limits: Limits, isolation: Isolation
    ) -> None:
        self._control = control
        self._channel = channel
        self._shell = shell
        self._limits = limits
        self._isolation = isolation
        self._peak = 0
        self._warnings = 0

    def run(self) -> None:
        """Fork, watch, end, and say so."""
        child = self._isolation.fork()
        if child == 0:
            self._become_student()
        os.close(self._channel)
        self._watch(child)
        cpu = self._isolation.end(child)
        self._say({"ended": True, "cpu": cpu, "peak": self._peak})

    def _watch(self, child: int) -> None:
        """Return when the submission's process has ended, or is to be ended."""
        handle = os.pidfd_open(child)
        try:
            while True:
                files = [handle, self._control.fileno()]
                ready, _, _ = select.select(files, [], [], WATCH_SECONDS)
                if self._control.fileno() in ready:
                    self._control.recv(4096)  # "stop", or the trusted side is gone: the same
                if ready:
                    return
                if self._isolation.confined and self._too_much():
                    return
        finally:
            os.close(handle)

    def _too_much(self) -> bool:
        """Hold the processes to their limits; True where the submission is to be ended."""
        pids = descendants(os.getpid())
        weigh_as_one_thread(pids)
        return self._too_much_cpu(pids) or self._too_much_memory(pids) or self._too_many_files()

    def _too_much_cpu(self, pids: list[int]) -> bool:
        # Later than the limit of a single process, which can say where it was met.
        return sum(map(cpu_seconds, pids)) > self._limits.cpu_seconds + SPARE_SECONDS

    def _too_much_memory(self, pids: list[int]) -> bool:
        """Kill the largest processes until the rest fits; True where that did not help for long."""
        if memory.resident(pids) <= self._limits.memory_bytes:
            return False
        used = memory.used_by_descendants(os.getpid())
        total = sum(used.values())
        self._peak = max(self._peak, total)
        if total <= self._limits.memory_bytes:
            return False
        self._warnings += 1
        # First, so that it is known before the effect is seen; and never waiting for a reader.
        self._say({"memory": total}, socket.MSG_DONTWAIT)
        for pid in sorted(used, key=lambda pid: used[pid], reverse=True):
            if total <= self._limits.memory_bytes:
                break
            total -= used[pid]
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return self._warnings > _MAX_WARNINGS

    def _too_many_files(self) -> bool:
        size = self._isolation.files_beyond_limit()
        if size:
            self._say({"files": size}, socket.MSG_DONTWAIT)
        return size > 0

    def _say(self, message: dict[str, Any], flags: int = 0) -> None:
        with suppress(BlockingIOError):
            self._control.send(json.dumps(message).encode(), flags)

    def _become_student(self) -> None:
        """In the fork: raise the inner wall, say so, then serve the submission."""
        from gradekit.untrusted import frames, runner

        try:
            channel = socket.socket(fileno=self._channel)
            folder = self._raise_inner_wall()
            frames.send(channel, {"walled": True})
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        try:
            runner.serve_submission(channel, self._shell, self._limits, folder)
        finally:
            os._exit(0)

    def _raise_inner_wall(self) -> Path:
        """Confine this process; returns the folder that its notebook runs in."""
        # kill(0, …) reaches a process group across pid namespaces; the server is in the old one.
        os.setsid()
        namespaces.die_with_parent()
        return self._isolation.enter_inner()


if __name__ == "__main__":
    main(sys.argv[1:])
