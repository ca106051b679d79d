"""The fork server: imports torch and the rest once, then forks one process per submission.

Runs inside the outer isolation, as ``python -m gradekit.untrusted.forkserver FD SETTINGS``. It
never reads a byte of a submission and never runs a line of one. It starts the submission's process,
enforces its limits, ends it and reports that. Each message on the control channel is one JSON
packet:

    ──► {"run": true} + the submission's channel
    ──► {"stop": true}
    ◄── {"ready": true}                          once, when all is imported
    ◄── {"memory": bytes}                        a process was killed for its memory
    ◄── {"files": bytes}                         the submission was ended for its files
    ◄── {"ended": true, "cpu": s, "peak": bytes} no process of the submission is left; `cpu` is
                                                 above the limit if it was ended for that

Tested in tests/gradekit/untrusted/test_forkserver.py and tests/gradekit/sandbox/test_sandbox.py.
"""

from __future__ import annotations

import gc
import importlib
import itertools
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
from typing import Any, NoReturn, assert_never

from gradekit.untrusted import memory, namespaces
from gradekit.untrusted.cpu_share import weigh_as_one_thread
from gradekit.untrusted.imports import gc_disabled
from gradekit.untrusted.isolation import Isolation, NamespaceIsolation, NoIsolation
from gradekit.untrusted.landlock_isolation import LandlockIsolation
from gradekit.untrusted.limits import SPARE_SECONDS, Limits
from gradekit.untrusted.processes import CpuTime, descendants
from gradekit.untrusted.settings import ServerSettings

WATCH_SECONDS = 0.1
# After so many submissions, memory is moved into huge pages: a submission's forks are then 0.02 s
# cheaper. Moving takes half a second, which a server that grades only a few would not get back.
_COLLAPSE_AFTER = 10
_MAX_WARNINGS = 5
_WARM_MODULES = (
    "attnlab.checking.judges",
    "gradekit.untrusted.runner",
    "torch.nn.functional",
    "numpy.random",
    # backward() imports this, and sympy with it, if it gets a gradient.
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
# The first optimiser takes a second, because torch then imports its compiler of models.
_TRAINING_CELL = "import torch\ntorch.optim.Adam([torch.zeros(1, requires_grad=True)]).step()"


def main(arguments: list[str]) -> None:
    """Enter the outer isolation, import everything, then serve until the control channel closes."""
    control = socket.socket(fileno=int(arguments[0]))
    settings = ServerSettings.from_json(arguments[1])
    isolation = isolation_of(settings)
    isolation.enter_outer(control.fileno())
    with gc_disabled():
        shell = warm_shell(settings.trains)
    isolation.prepare()
    assert_single_thread()
    gc.freeze()
    control.send(json.dumps({"ready": True}).encode())
    for number in itertools.count(1):
        packet, channels, _, _ = socket.recv_fds(control, 4096, 1)
        if not packet:
            return
        if "run" in json.loads(packet):
            _Submission(control, channels[0], shell, settings.limits, isolation).run()
        if number == _COLLAPSE_AFTER:
            memory.collapse()


def isolation_of(settings: ServerSettings) -> Isolation:
    """The isolation of the level that the settings name."""
    match settings.level:
        case "bubblewrap":
            return NamespaceIsolation(settings.limits)
        case "landlock":
            assert settings.policy is not None
            return LandlockIsolation(settings.policy, settings.limits)
        case "none":
            return NoIsolation()
        case unknown:
            assert_never(unknown)


def warm_shell(trains: bool) -> Any:
    """A shell in which everything that labs use has been imported and called once.

    Args:
        trains: whether to include what only the training of models needs.
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
    gc.freeze()  # else reset() searches all of torch for garbage, which takes 0.3 s
    shell.reset(new_session=True)
    return shell


def _import_all(package: str) -> None:
    """Import the modules of a package, which notebooks will import; skip those that fail."""
    with suppress(Exception):
        root = importlib.import_module(package)
        for module in pkgutil.walk_packages(root.__path__, package + ".", onerror=lambda _: None):
            with suppress(Exception):
                if not module.name.endswith("__main__"):
                    importlib.import_module(module.name)


def assert_single_thread(seconds: float = 5.0) -> None:
    """Wait until this process has one thread, because a fork of several would hang in the child.

    Raises:
        RuntimeError: it still has several after `seconds`.
    """
    deadline = time.monotonic() + seconds
    while len(os.listdir("/proc/self/task")) > 1:
        if time.monotonic() > deadline:
            names = ", ".join(thread.name for thread in threading.enumerate())
            raise RuntimeError(f"the fork server has more than one thread ({names})")
        time.sleep(0.01)


class _Submission:
    """One submission's processes, from the fork of the first to the end of the last."""

    def __init__(
        self, control: socket.socket, channel: int, shell: Any, limits: Limits, isolation: Isolation
    ) -> None:
        self._control = control
        self._channel = channel
        self._shell = shell
        self._limits = limits
        self._isolation = isolation
        self._peak = 0
        self._cpu = CpuTime()
        self._warnings = 0

    def run(self) -> None:
        """Fork the first process, watch all of them, end them, and report that."""
        child = self._isolation.fork()
        if child == 0:
            self._serve()
        os.close(self._channel)
        self._watch(child)
        cpu = max(self._isolation.end(child), self._cpu.total([]))
        self._report({"ended": True, "cpu": cpu, "peak": self._peak})

    def _watch(self, child: int) -> None:
        """Return when the submission's process has ended, or must be ended."""
        handle = os.pidfd_open(child)
        try:
            while True:
                files = [handle, self._control.fileno()]
                ready, _, _ = select.select(files, [], [], WATCH_SECONDS)
                if self._control.fileno() in ready:
                    self._control.recv(4096)  # "stop"; or nothing, if the trusted side has ended
                if ready:
                    return
                if self._isolation.confined and self._exceeds_limits():
                    return
        finally:
            os.close(handle)

    def _exceeds_limits(self) -> bool:
        """Enforce the processes' limits; returns whether the submission must be ended."""
        pids = descendants(os.getpid())
        weigh_as_one_thread(pids)
        return self._too_much_cpu(pids) or self._too_much_memory(pids) or self._too_many_files()

    def _too_much_cpu(self, pids: list[int]) -> bool:
        # Later than the limit of a single process, which can report where it was exceeded.
        return self._cpu.total(pids) > self._limits.cpu_seconds + SPARE_SECONDS

    def _too_much_memory(self, pids: list[int]) -> bool:
        """Kill the largest processes until the rest fits; True if that happened too often."""
        if memory.resident(pids) <= self._limits.memory_bytes:
            return False
        used = memory.used_by_descendants(os.getpid())
        total = sum(used.values())
        self._peak = max(self._peak, total)
        if total <= self._limits.memory_bytes:
            return False
        self._warnings += 1
        # First, so that the trusted side knows the reason before it sees the effect. This never
        # waits for a reader.
        self._report({"memory": total}, socket.MSG_DONTWAIT)
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
            self._report({"files": size}, socket.MSG_DONTWAIT)
        return size > 0

    def _report(self, message: dict[str, Any], flags: int = 0) -> None:
        with suppress(BlockingIOError):
            self._control.send(json.dumps(message).encode(), flags)

    def _serve(self) -> NoReturn:
        """In the fork: enter the inner isolation, report that, then serve the submission."""
        from gradekit.untrusted import frames, runner

        try:
            channel = socket.socket(fileno=self._channel)
            folder = self._enter_inner()
            frames.send(channel, {"started": True})
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        try:
            runner.serve_submission(
                channel,
                self._shell,
                self._limits,
                folder,
                lambda: self._isolation.files_beyond_limit() > 0,
            )
        finally:
            os._exit(0)

    def _enter_inner(self) -> Path:
        """Isolate this process; returns the folder in which its notebook runs."""
        # kill(0, …) reaches a process group across pid namespaces; the server is in the old one.
        os.setsid()
        namespaces.die_with_parent()
        return self._isolation.enter_inner()


if __name__ == "__main__":
    main(sys.argv[1:])
