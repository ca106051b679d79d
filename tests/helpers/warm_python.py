"""Modules and scripts as ``python`` runs them, without the seconds that their imports take.

    done = warm_python.run("gradekit.cli", "grade", "lab01", cwd=course.root)

A process without threads imports torch, nbgrader and our packages once for a test session. Each
command is a fork of it, with a folder, an environment and streams of its own. The process from
which `lab grade` forks its workers is such a fork, too: multiprocessing starts a new Python for it.
If the tests are killed, that process and its command end within a second.

A test of how a command starts (what it imports, from where, with which user) starts a real one.
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import json
import multiprocessing.util
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

_MOST = 2**17  # bytes of a message
_LOOK = 1000  # milliseconds between two looks at whether the tests still run
_HIGH = 600  # above all numbers of files that a command has


def run(
    module: str, *arguments: str, cwd: Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """What ``python -m module arguments`` writes in the folder `cwd`, and its exit status.

    Args:
        module: or the path of a script, for ``python script arguments``.
        env: its environment; None for this process's.
    """
    order = {
        "module": module,
        "arguments": arguments,
        "cwd": str(cwd),
        "env": dict(os.environ if env is None else env),
    }
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        status = _server().do(order, [output.fileno(), errors.fileno()])
        texts = []
        for file in (output, errors):
            file.seek(0)
            texts.append(file.read())
    return subprocess.CompletedProcess([module, *arguments], status, *texts)


@cache
def _server() -> _Server:
    server = _Server()
    atexit.register(server.end)
    return server


class _Server:
    """The process that commands are forked from, as its starter sees it."""

    def __init__(self) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", __file__, str(theirs.fileno()), str(os.getpid())],
                pass_fds=[theirs.fileno()],
                env={**os.environ, "OMP_NUM_THREADS": "1"},  # tests share the cores
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )

    def do(self, order: Mapping[str, Any], files: Sequence[int]) -> int:
        """Have one command run to its end; returns its exit status."""
        try:
            socket.send_fds(self._control, [json.dumps(order).encode()], files)
            return int(self._control.recv(_MOST))
        except BaseException:  # a test's time was over: what the command writes later is nobody's
            self.end()
            _server.cache_clear()
            raise

    def end(self) -> None:
        """End it, and a command that still runs."""
        self._control.close()
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


def _serve(control: socket.socket, starter: int) -> tuple[dict[str, Any], list[int]] | None:
    """Fork for each order; returns it in the fork, and None when there is nobody to order."""
    while True:
        _wait_for(control.fileno(), starter)
        packet, files, _, _ = socket.recv_fds(control, _MOST, 2)
        if not packet:
            return None
        child = os.fork()
        if child == 0:
            control.close()
            return json.loads(packet), files
        for file in files:
            os.close(file)
        ended = os.pidfd_open(child)
        _wait_for(ended, starter)
        os.close(ended)
        _, status = os.waitpid(child, 0)
        control.send(str(os.waitstatus_to_exitcode(status)).encode())


def _wait_for(file: int, starter: int) -> None:
    """Wait until `file` can be read; end this process and its command if `starter` has ended.

    The other end of the control socket says nothing about that: forks of `starter` have copies of
    it. A signal at the parent's death would come when the thread ends that started this process.
    """
    poll = select.poll()
    poll.register(file, select.POLLIN)
    while not poll.poll(_LOOK):
        if os.getppid() != starter:
            os.killpg(0, signal.SIGKILL)


def _become(order: Mapping[str, Any], files: Sequence[int]) -> None:
    """Make this fork the command: streams, folder, environment, arguments."""
    for stream, file in enumerate(files, start=1):
        os.dup2(file, stream)
        os.close(file)
    os.environ.clear()
    os.environ.update(order["env"])
    os.chdir(order["cwd"])
    time.tzset()
    tempfile.tempdir = None
    added = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    _apply_warning_filters(filter(None, os.environ.get("PYTHONWARNINGS", "").split(",")))
    here = [] if os.environ.get("PYTHONSAFEPATH") else [order["cwd"]]
    sys.path[:0] = [*here, *filter(None, added)]
    sys.argv = [order["module"], *order["arguments"]]
    _fork_workers_server()


def _apply_warning_filters(actions: Iterable[str]) -> None:
    for action in actions:
        warnings.simplefilter(action)  # type: ignore[arg-type]


def _fork_workers_server() -> None:
    """Have ready, while there is one thread, the process from which workers are forked.

    It does what multiprocessing would start a new Python for, once that is asked for.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    child = os.fork()
    if child == 0:
        ours.close()
        _wait_for_command(theirs)
    theirs.close()
    start = multiprocessing.util.spawnv_passfds

    def started(path: bytes, line: Sequence[str], files: Sequence[int]) -> int:
        if "multiprocessing.forkserver" not in line[-1]:
            return start(path, line, files)
        with ours:
            socket.send_fds(ours, [json.dumps([line[-1], files]).encode()], files)
        return child

    multiprocessing.util.spawnv_passfds = started


def _wait_for_command(control: socket.socket) -> None:
    packet, received, _, _ = socket.recv_fds(control, _MOST, 8)
    control.close()
    if packet:
        code, numbers = json.loads(packet)
        # The command names these numbers, which may belong to other files here.
        apart = [fcntl.fcntl(file, fcntl.F_DUPFD, _HIGH) for file in received]
        os.closerange(3, _HIGH)
        for number, file in zip(numbers, apart, strict=True):
            os.dup2(file, number)
            os.close(file)
        exec(code, {"__name__": "__main__"})
    os._exit(0)


def _run(module: str) -> None:
    """Run the command and end as Python does, but leave the memory to the system."""
    status: object = 0
    try:
        if module.endswith(".py"):
            runpy.run_path(module, run_name="__main__")
        else:
            runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        status = ended.code
    except BaseException:
        traceback.print_exc()
        status = 1
    if isinstance(status, str):
        print(status, file=sys.stderr)
    threading._shutdown()  # waits for threads, as Python does before its last functions
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status if isinstance(status, int) else int(status is not None))


def _import_everything() -> None:
    from gradekit.untrusted.imports import gc_disabled

    with gc_disabled():
        import gradekit.build.build
        import gradekit.cli
        import gradekit.feedback.solutions
        import gradekit.grading.grade
        import gradekit.grading.preload
        import gradekit.nbgrader.plugins  # noqa: F401
    gc.freeze()


if __name__ == "__main__":
    _import_everything()
    taken = _serve(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]))
    if taken is not None:
        _become(*taken)
        _run(sys.argv[0])
