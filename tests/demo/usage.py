"""What a command and all its processes used: time, processor, memory."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gradekit import confine, memory

_LOOK_SECONDS = 2.0  # often enough for a peak, seldom enough to slow nothing down
_PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True)
class Usage:
    """What a run used.

    Attributes:
        seconds: from start to end.
        cpu_seconds: of all its processes.
        peak_bytes: the most memory that they had together at any look; shared pages count once.
            0 where nobody looked.
        said: its standard output.
    """

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    said: str


class CommandFailed(RuntimeError):
    """A command that is measured must end well. The message holds the end of what it said."""


def measured(
    command: Sequence[str], folder: Path, variables: Mapping[str, str] | None = None,
    watch_memory: bool = False,
) -> Usage:
    """Run `command` in `folder` and measure it with all that it starts.

    Nothing else may be started meanwhile: it would be taken for a part of it.

    Raises:
        CommandFailed: it ended with another status than 0.
    """
    # Whoever loses its parent becomes a child of this process: so its time is counted.
    confine.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    said = folder.parent / f".{folder.name}.said"
    with said.open("w+") as out:
        others, start = _children(), time.perf_counter()
        process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **(variables or {})},
            stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, text=True,
        )
        errors: list[str] = []
        assert process.stderr is not None
        reader = threading.Thread(target=lambda: errors.extend(process.stderr or ()))
        reader.start()
        peak = _watch(process) if watch_memory else 0
        status, cpu_seconds = _wait_for_all(process.pid, others)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        reader.join()
        process.stderr.close()
        out.seek(0)
        text = out.read()
    said.unlink()
    if process.returncode:
        raise CommandFailed(f"{' '.join(command)}: {''.join(errors)[-2000:] or text[-2000:]}")
    return Usage(seconds, cpu_seconds, peak, text)


def _wait_for_all(pid: int, others: set[int]) -> tuple[int, float]:
    """Wait for a process and for what it leaves behind; its status, and the CPU seconds of all."""
    _, status, used = os.wait4(pid, 0)  # counts whom it has itself waited for, too
    seconds = used.ru_utime + used.ru_stime
    while left := _children() - others:
        for orphan in left:
            _, _, used = os.wait4(orphan, 0)
            seconds += used.ru_utime + used.ru_stime
    return status, seconds


def _children() -> set[int]:
    return {pid for pid, parent in memory.parents().items() if parent == os.getpid()}


def _watch(process: subprocess.Popen[str]) -> int:
    """The peak of its memory; returns when it has ended, and leaves it to be waited for."""
    peak = 0
    while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        peak = max(peak, memory.used_by(process.pid) + sum(memory.used_below(process.pid).values()))
        time.sleep(_LOOK_SECONDS)
    return peak
