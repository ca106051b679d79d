"""The untrusted side of grading: runs a notebook's cells, then probes their definitions.

Runs in a process of its own, forked for one submission; student code can control it from the first
cell on. So it holds no answers, and the trusted side believes nothing that it sends. It runs what
it receives and reports what it saw. A second fork answers the probes. If a probe crashes or hangs
that fork, the next exercise gets a new one, so a crash costs one exercise.

The messages on the channel, after the submission (cells, files, seed, graded names) was read:

    ◄── {"cell": i, "limit": …, "where": …}                 at once, when its time is over
    ◄── {"cell": i, "state": …, "outputs": […], "limit": …, "where": …}   for each, when it has run;
        with the last one "changes": [[exercise, name, cell], …]
    ──► {"probes": […], "limits": {…}}                                    for each group of probes
    ◄── {"check": i} + observation, or {"check": i, "limit": …, "where": …}   for each of its checks
    ◄── {"done": "" or "ended", "limit": …, "where": …}

Tested in tests/gradekit/untrusted/test_runner.py and tests/gradekit/sandbox/test_sandbox.py.
"""

from __future__ import annotations

import errno
import os
import signal
import socket
import sys
import time
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import torch

from attnlab.checking.definitions import Definitions, replaced
from attnlab.checking.draw import Draw, seed_everything
from attnlab.checking.lab import Lab, observe
from attnlab.checking.observation import ObservationError, Raised, pack
from gradekit.untrusted import frames
from gradekit.untrusted.cell_output import Outputs
from gradekit.untrusted.limits import ExerciseLimits, LimitKind, Limits
from gradekit.untrusted.messages import ANONYMOUS, Probe
from gradekit.untrusted.shell import NotebookShell, collecting, run_cell
from gradekit.untrusted.soft_limits import (
    LimitReachedError,
    alarm,
    exercise_limits,
    limit_in_error,
    room_for_a_fork,
    set_soft_limits,
)

# The time that a process has to report which function was running when its time was over.
_REPORT_SECONDS = 0.5
_WAIT_SECONDS = 0.05


def serve_submission(
    channel: socket.socket,
    shell: NotebookShell,
    limits: Limits,
    folder: Path,
    too_many_files: Callable[[], bool],
) -> None:
    """Serve one submission from its first message; returns when the channel closes.

    Args:
        channel: to the trusted side.
        shell: runs the cells.
        limits: what the submission may use.
        folder: its working folder.
        too_many_files: whether the fork server will end the submission for its files.
    """
    submission = frames.receive(channel)
    _write_files(folder, submission.message["files"], submission.body)
    # Last, so that a file in it replaces no module of Python, torch or ours.
    sys.path.append(str(folder))
    _redirect_streams(channel, shell, folder)
    seed_everything(submission.message["seed"])
    outputs = Outputs(limits.cell_output_bytes, limits.output_bytes)
    myself = os.getpid()
    set_soft_limits(limits)
    definitions = Definitions(submission.message["graded"])
    cells = submission.message["cells"]
    for index, source, checks in cells:

        def report(limit: LimitKind, where: str, index: int = index) -> None:
            frames.send(channel, {"cell": index, "limit": limit, "where": where})

        outputs.begin()
        # Again for each cell, because the one before may have replaced sys.stdout.
        with collecting(shell, outputs):
            ran = run_cell(shell, source, limits.cell_seconds, report)
        _end_if_not(myself)
        # The fork server looks only from time to time: without this, a later cell would be blamed.
        while too_many_files():
            time.sleep(_WAIT_SECONDS)
        shell.raw.drain(outputs)
        limit = ran.limit or (LimitKind.OUTPUT if outputs.is_cut else None)
        answer = {"cell": index, "state": ran.state, "limit": limit, "where": ran.where}
        definitions.after_cell(index, shell.user_ns, checks)
        if index == cells[-1][0]:
            answer["changes"] = _changes(definitions, submission.message["graded"])
        frames.send(channel, {**answer, "outputs": outputs.finish()})
    prober = _Prober(shell, folder, definitions)
    while True:
        try:
            request = frames.receive(channel).message
        except frames.ChannelClosedError:
            return
        prober.pass_on(request, channel)


def _changes(definitions: Definitions, steps: Iterable[str]) -> list[list[Any]]:
    """What later cells changed, before any probe arrives."""
    return [
        [step, change.name, change.cell] for step in steps for change in definitions.changes(step)
    ]


def answer_probe(probe: Probe, names: Mapping[str, Any], folder: Path | None = None) -> bytes:
    """Run one probe on `names` and the files in `folder`; returns its observation as bytes.

    Raises:
        ObservationError: the observation is too large.
        LimitReachedError: the student's code exceeded a limit.
    """
    seed_everything(probe.seed)
    versions = [_load(text, ANONYMOUS, "<version>") for text in probe.versions]
    ask = _load(probe.source, probe.check, "<probe>")
    try:
        seen = observe(ask, Lab(names, folder), Draw(probe.seed, versions), probe.forbids)
    except BaseException as error:  # sys.exit() in a student's function
        seen = Raised(type(error).__name__, str(error))
    if isinstance(seen, Raised) and (limit := limit_in_error(seen.type, seen.message)):
        raise LimitReachedError(limit, seen.source_line)
    return pack(seen)


def _load(source: str, name: str, filename: str) -> Callable[..., Any]:
    # The name of an imported module, because dataclasses look it up.
    space: dict[str, Any] = {"__name__": __name__}
    exec(compile(source, filename, "exec"), space)  # noqa: S102 - the trusted side's text
    function: Callable[..., Any] = space[name]
    return function


class _Prober:
    """A fork of the process that ran the cells; replaced by a new one when it ends."""

    def __init__(self, shell: NotebookShell, folder: Path, definitions: Definitions) -> None:
        self._shell = shell
        self._folder = folder
        self._definitions = definitions
        self._child = 0
        self._channel: socket.socket | None = None

    def pass_on(self, request: dict[str, Any], channel: socket.socket) -> None:
        """Have a group of probes answered; pass on each complete answer, and how it ended."""
        deadline = time.monotonic() + request["limits"]["seconds"] + _REPORT_SECONDS
        done: dict[str, Any] = {"done": ""}
        try:
            child = self._channel or self._start(channel)
            frames.send(child, request, deadline=deadline)
            for _ in request["probes"]:
                answer = frames.receive(child, max_text=2**16, deadline=deadline)
                if "check" not in answer.message:
                    done = {**answer.message, "done": "ended"}
                    break
                frames.send(channel, answer.message, answer.body)
        except frames.ChannelTimeoutError:
            done = {"done": "ended", "limit": LimitKind.TIME}
        except (frames.ChannelClosedError, frames.FrameError):
            done = {"done": "ended"}
        except BlockingIOError:  # the cells' threads and processes have reached the limit
            done = {"done": "ended", "limit": LimitKind.PROCESSES}
        except OSError as error:
            full = error.errno in (errno.EMFILE, errno.ENFILE)
            done = {"done": "ended", **({"limit": LimitKind.OPEN_FILES} if full else {})}
        if done["done"]:
            cpu = self._end()
            if "limit" not in done and cpu > request["limits"]["cpu_seconds"]:
                done["limit"] = LimitKind.CPU
        frames.send(channel, done)

    def _start(self, channel: socket.socket) -> socket.socket:
        with room_for_a_fork():
            ours, theirs = socket.socketpair()
            self._child = os.fork()
            if self._child == 0:  # it keeps that room
                with suppress(BaseException):
                    ours.close()
                    channel.close()
                    _answer_all(theirs, self._shell, self._folder, self._definitions)
                os._exit(0)
        theirs.close()
        self._channel = ours
        return ours

    def _end(self) -> float:
        """End the fork, if there is one; returns the CPU seconds that it used."""
        if self._channel is None:
            return 0.0
        self._channel.close()
        self._channel = None
        with suppress(ProcessLookupError):
            os.kill(self._child, signal.SIGKILL)
        _, _, usage = os.wait4(self._child, 0)
        return usage.ru_utime + usage.ru_stime


def _answer_all(
    channel: socket.socket, shell: NotebookShell, folder: Path, definitions: Definitions
) -> None:
    """In the fork: answer group after group."""
    # A pool of threads that a cell started does not exist after a fork; using it would hang.
    torch.set_num_threads(1)
    sender = _Sender(channel)
    with collecting(shell, Outputs(0, 0)):
        while True:
            request = frames.receive(channel).message
            limits = ExerciseLimits(**request["limits"])
            probes = [Probe.from_json(values) for values in request["probes"]]
            references = _references(probes[0])
            asked = {name: references.pop(name) for name in probes[0].tested}
            names = definitions.of(probes[0].exercise) | references
            with (
                replaced(shell.user_ns, names),
                exercise_limits(limits),
                alarm(limits.seconds, sender.give_up),
            ):
                _answer_group(
                    sender, probes, ChainMap(asked, shell.user_ns), folder, limits.answer_bytes
                )


def _answer_group(
    sender: _Sender, probes: list[Probe], names: Mapping[str, Any], folder: Path, most: int
) -> None:
    """Answer one exercise's probes with at most `most` bytes."""
    myself = os.getpid()
    for index, probe in enumerate(probes):
        limit, where, answer = None, "", b""
        try:
            answer = answer_probe(probe, names, folder)
        except LimitReachedError as reached:
            limit, where = reached.limit, reached.where
        except ObservationError:
            limit = LimitKind.ANSWER
        except BaseException as error:  # hostile objects raise anything, anywhere
            limit = limit_in_error(type(error).__name__, "") or LimitKind.ANSWER
        _end_if_not(myself)
        if len(answer) > most:
            limit, answer = LimitKind.ANSWER, b""
        most -= len(answer)
        exceeded = {"limit": limit, "where": where} if limit else {}
        sender.send({"check": index, **exceeded}, answer)


class _Sender:
    """Sends frames one at a time: the frame of a signal handler waits until another is complete."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._sending = False
        self._last: dict[str, Any] | None = None

    def send(self, message: dict[str, Any], body: bytes) -> None:
        """Send one frame."""
        self._sending = True
        frames.send(self._channel, message, body)
        self._sending = False
        if self._last is not None:
            self._end()

    def give_up(self, limit: LimitKind, where: str) -> None:
        """Report the exceeded limit, and end this process: its code may catch every exception."""
        self._last = {"limit": limit, "where": where}
        if not self._sending:
            self._end()

    def _end(self) -> NoReturn:
        with suppress(BaseException):
            frames.send(self._channel, self._last or {})
        os._exit(0)


def _end_if_not(pid: int) -> None:
    """End this process if it is not `pid`, but one that a student's code has forked from it."""
    if os.getpid() != pid:
        os._exit(0)


def _references(probe: Probe) -> dict[str, Any]:
    """The references that this exercise uses instead of the student's functions, by name."""
    if not probe.uses:
        return {}
    space: dict[str, Any] = {"__name__": __name__}
    exec(compile(probe.uses, "<reference>", "exec"), space)  # noqa: S102 - the trusted side's text
    return {name: space[name] for name in (*probe.replaces, *probe.tested)}


def _write_files(folder: Path, files: list[list[Any]], body: bytes) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    start = 0
    for name, size in files:
        path = folder / name
        # If a file cannot be written (there is a folder of its name, it is too large), it is
        # missing, like a file that was never handed in.
        with suppress(OSError, ValueError):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(body[start : start + size])
        start += size


def _redirect_streams(channel: socket.socket, shell: NotebookShell, folder: Path) -> None:
    """Close every file but the channel; standard input is empty, output goes to a file."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - open for as long as the process lives
    shell.raw.take_over(str(folder.parent / ".output"))
    keep = {0, 1, 2, channel.fileno(), shell.raw.fileno()}
    for fd in {int(name) for name in os.listdir("/proc/self/fd")} - keep:
        with suppress(OSError):
            os.close(fd)
