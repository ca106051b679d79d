"""The lock of a journal: one process writes it at a time, and others learn which one.

Tested in tests/gradekit/results/test_journal.py.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import IO

from gradekit.errors import JournalLockedError


def take_lock(path: Path, wait: float | None, on_wait: Callable[[str], None] | None) -> IO[str]:
    """The open lock file, which this process alone has locked; closing it releases the lock.

    Args:
        path: of the lock file; the journal has the same name with the suffix ``.jsonl``.
        wait: seconds to wait for another process (None: without a limit).
        on_wait: called once with a message before waiting.

    Raises:
        JournalLockedError: another process holds it for longer than `wait`.
        OSError: the file cannot be opened.
    """
    handle = path.open("a+", encoding="utf-8")
    deadline = None if wait is None else time.monotonic() + wait
    reported = False
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            message = _holder(path)
            if deadline is not None and time.monotonic() >= deadline:
                handle.close()
                raise JournalLockedError(
                    f"{message}; wait for it, or stop it and try again"
                ) from None
            if on_wait and not reported:
                on_wait(f"{message}; waiting")
                reported = True
            time.sleep(0.1)
    since = datetime.now().astimezone().isoformat(timespec="seconds")
    holder = json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": since})
    with suppress(OSError):  # only waiting processes read it, and the lock holds without it
        os.ftruncate(handle.fileno(), 0)
        write_all(handle.fileno(), holder.encode())
    return handle


def write_all(handle: int, data: bytes) -> None:
    """Write all of `data` to a file descriptor."""
    left = memoryview(data)
    while left:
        left = left[os.write(handle, left) :]


def _holder(path: Path) -> str:
    journal = path.with_suffix(".jsonl")
    try:
        holder = json.loads(path.read_text("utf-8"))
        return (
            f"{journal} is being written by process {holder['pid']} on {holder['host']} "
            f"since {holder['since']}"
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return f"{journal} is being written by another process"
