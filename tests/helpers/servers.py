"""Servers for a browser: started for one test, ended with it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tornado.ioloop import IOLoop

from gradekit.course import Course
from gradekit.marking.server import MarkingServer
from gradekit.marking.session import Marking


def free_port() -> int:
    """A port on which nothing listens now, and most likely nothing on the next ones."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], seconds: float = 90
) -> Iterator[str]:
    """Run a Jupyter server in `folder`; gives its address, with a token for the browser."""
    runtime = Path(environment["JUPYTER_RUNTIME_DIR"])
    log = runtime.parent / "server.log"
    with log.open("wb") as output:
        server = subprocess.Popen(
            [sys.executable, "-m", *command], cwd=folder, env=dict(environment),
            stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        try:
            yield _address(server, runtime, log, time.monotonic() + seconds)
        finally:
            end(server)


@contextmanager
def marking(course: Course, lab: str) -> Iterator[MarkingServer]:
    """Run the server of ``lab mark`` in a thread of this process."""
    ready: dict[str, Any] = {}
    begun = threading.Event()

    def serve() -> None:
        ready["loop"] = IOLoop()  # a loop of this thread
        ready["server"] = MarkingServer(Marking(course, lab))
        begun.set()
        ready["server"].run()

    thread = threading.Thread(target=serve)
    thread.start()
    assert begun.wait(60)
    try:
        yield ready["server"]
    finally:
        ready["loop"].add_callback(ready["loop"].stop)
        thread.join(10)


def _address(server: subprocess.Popen[bytes], runtime: Path, log: Path, until: float) -> str:
    """Where the server listens. It writes its file a moment before it begins to listen."""
    file = runtime / f"jpserver-{server.pid}.json"
    while time.monotonic() < until and server.poll() is None:
        try:
            found = json.loads(file.read_text())
            with socket.create_connection(("127.0.0.1", found["port"]), timeout=1):
                return str(found["url"])
        except (OSError, ValueError):  # not there yet, half written, or not listening yet
            time.sleep(0.1)
    raise AssertionError(f"the server did not start:\n{log.read_text()[-3000:]}")


def end(server: subprocess.Popen[bytes]) -> None:
    """End a server; its kernels end with it, and what does not is ended with its session."""
    server.send_signal(signal.SIGTERM)
    try:
        server.wait(20)
    except subprocess.TimeoutExpired:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()
