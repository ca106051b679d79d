"""What a command and all its processes used: time, processor, memory."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from gradekit.untrusted import libc, memory
from gradekit.untrusted.processes import parents

_LOOK_SECONDS = 2.0  # often enough for a peak, seldom enough to slow nothing down


@dataclass(frozen=True)
class Usage:
    """What a run used.

    Attributes:
        seconds: from start to end.
        cpu_seconds: of the whole machine meanwhile, which is to do nothing else, without ours.
        peak_bytes: the most memory that they had together at any look; shared pages count once.
            0 where nobody looked.
        late_bytes: the median of what they had at the looks of the second half, in which shows what
            grows with the work, and a single large hand-in does not.
        said: its standard output.
    """

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    late_bytes: int
    said: str


class CommandError(RuntimeError):
    """A command that is measured must end well. The message holds the end of what it said."""


def measured(
    command: Sequence[str],
    folder: Path,
    variables: Mapping[str, str] | None = None,
    watch_memory: bool = False,
) -> Usage:
    """Run `command` in `folder` and measure it with all that it starts.

    Nothing else may be started meanwhile: it would be taken for a part of it. Processor time is
    the machine's, since the kernel tells nobody what the processes of a pid namespace had used
    that ended with it.

    Raises:
        CommandError: it ended with another status than 0.
    """
    # Whoever loses its parent becomes a child of this process: so it is waited for.
    libc.prctl(libc.PR_SET_CHILD_SUBREAPER, 1)
    said = folder.parent / f".{folder.name}.said"
    with said.open("w+") as out:
        others, busy, start = _children(), _busy_seconds(), time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **(variables or {})},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
        )
        errors: list[str] = []
        assert process.stderr is not None
        reader = threading.Thread(target=lambda: errors.extend(process.stderr or ()))
        reader.start()
        looks = _watch(process) if watch_memory else [0]
        status = _wait_for_all(process.pid, others)
        seconds, cpu_seconds = time.perf_counter() - start, _busy_seconds() - busy
        process.returncode = os.waitstatus_to_exitcode(status)
        reader.join()
        process.stderr.close()
        out.seek(0)
        text = out.read()
    said.unlink()
    if process.returncode:
        raise CommandError(f"{' '.join(command)}: {''.join(errors)[-2000:] or text[-2000:]}")
    late = int(median(looks[len(looks) // 2 :]))
    return Usage(seconds, cpu_seconds, max(looks), late, text)


def _wait_for_all(pid: int, others: set[int]) -> int:
    """Wait for a process and for what it leaves behind; its status."""
    _, status = os.waitpid(pid, 0)
    while left := _children() - others:
        for orphan in left:
            os.waitpid(orphan, 0)
    return status


def _busy_seconds() -> float:
    """What all processors have worked since the machine started, but for this process."""
    user, nice, system, _idle, _waiting, irq, softirq = map(
        int, Path("/proc/stat").read_text().split()[1:8]
    )
    worked = (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")
    return worked - time.process_time()


def _children() -> set[int]:
    return {pid for pid, parent in parents().items() if parent == os.getpid()}


def _watch(process: subprocess.Popen[str]) -> list[int]:
    """Its memory, look by look; returns when it has ended, and leaves it to be waited for."""
    looks = [0]
    while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        below = memory.used_by_descendants(process.pid)
        looks.append(memory.used_by(process.pid) + sum(below.values()))
        time.sleep(_LOOK_SECONDS)
    return looks
