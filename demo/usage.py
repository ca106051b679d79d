"""The time, CPU time and memory that a command and all its processes used."""

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

_SAMPLE_SECONDS = 2.0  # often enough to see a peak, seldom enough not to slow anything down


@dataclass(frozen=True)
class Usage:
    """The time and memory that one run used.

    Attributes:
        seconds: from start to end.
        cpu_seconds: of the whole machine in that time, without this process. The machine must not
            do anything else.
        peak_bytes: the most memory that its processes had together in any sample; shared pages
            count once. 0 if memory was not sampled.
        late_bytes: the median of the samples of the second half. It shows memory that grows with
            the work, and is not affected by a single large submission.
        said: its standard output.
    """

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    late_bytes: int
    said: str


class CommandError(RuntimeError):
    """A measured command failed. The message has the end of its output."""


def measured(
    command: Sequence[str],
    folder: Path,
    variables: Mapping[str, str] | None = None,
    with_memory: bool = False,
) -> Usage:
    """Run `command` in `folder` and measure it, with all processes that it starts.

    Do not start anything else in that time: it would be measured, too. CPU time is the whole
    machine's, because the kernel does not report the time of processes that ended with their pid
    namespace.

    Raises:
        CommandError: its exit status is not 0.
    """
    # A process that loses its parent becomes a child of this process, which then waits for it.
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
        samples = _memory_samples(process) if with_memory else [0]
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
    late = int(median(samples[len(samples) // 2 :]))
    return Usage(seconds, cpu_seconds, max(samples), late, text)


def _wait_for_all(pid: int, others: set[int]) -> int:
    """Wait for a process and for those that it leaves behind; returns its status."""
    _, status = os.waitpid(pid, 0)
    while left := _children() - others:
        for orphan in left:
            os.waitpid(orphan, 0)
    return status


def _busy_seconds() -> float:
    """The CPU time of all processes since the machine started, without this process."""
    user, nice, system, _idle, _waiting, irq, softirq = map(
        int, Path("/proc/stat").read_text().split()[1:8]
    )
    worked = (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")
    return worked - time.process_time()


def _children() -> set[int]:
    return {pid for pid, parent in parents().items() if parent == os.getpid()}


def _memory_samples(process: subprocess.Popen[str]) -> list[int]:
    """Its memory, sampled until it has ended; the caller must still wait for it."""
    samples = [0]
    while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        descendants = memory.used_by_descendants(process.pid)
        samples.append(memory.used_by(process.pid) + sum(descendants.values()))
        time.sleep(_SAMPLE_SECONDS)
    return samples
