"""The trusted side's talk with one submission: send, wait, give up in time, try again.

A cell that ends or hangs its process costs only itself: the submission is run again without it.
Once probes have been sent nothing is run again. References of earlier exercises, which later ones
stand on, are sent only when all that could be answered with them has been answered.
"""

from __future__ import annotations

import json
import select
import socket
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from gradekit import frames
from gradekit.limits import GIB, Limits
from gradekit.outputs import clean_outputs
from gradekit.probes import Cell, Probe, Stopped
from gradekit.submission_run import CellRun, SubmissionRun

MAX_TRIES_AGAIN = 3
_GRACE_SECONDS = 2.0
_WALL_SECONDS = 30.0
_END_SECONDS = 20.0
_SMALL_TEXT = 2**16
_FORGED = "wrote something of its own into the grader's channel"
_ENDED_ITSELF = "ended its own process"
_LOOP = "is there a loop without an end?"


class ServerGone(RuntimeError):  # noqa: N818 - it names what happened
    """The fork server ended, or did not keep to the talk."""


class _Ended(Exception):  # noqa: N818 - it names what happened
    """The submission's process is no more, or no longer listened to; the message says why."""


class _OutOfTime(_Ended):
    """The time of the whole submission is over."""


def check_names(names: Iterable[str]) -> None:
    """Let pass the names of data files for the working folder.

    Raises:
        ValueError: one is not a relative path within the folder, or is a notebook's.
    """
    for name in names:
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or not path.parts or path.suffix == ".ipynb":
            raise ValueError(
                f"{name!r} cannot be a data file: it must be a relative path and no notebook"
            )


class Talk:
    """One submission's talk over the control channel of a running fork server."""

    def __init__(self, control: socket.socket, limits: Limits) -> None:
        self._control = control
        self._limits = limits
        self._deadline = time.monotonic() + limits.submission_seconds
        self._cpu = 0.0
        self._peak = 0
        self._notes: list[str] = []

    def run(
        self,
        cells: Sequence[Cell],
        probes: Sequence[Sequence[Probe]],
        files: Mapping[str, bytes],
        seed: int,
    ) -> SubmissionRun:
        """Run cells and probes; see :meth:`gradekit.sandbox.Sandbox.run`.

        Raises:
            ServerGone: the fork server failed.
        """
        started = time.monotonic()
        runs, attempt = self._run_cells(cells, files, seed)
        observations: dict[tuple[str, str], bytes | Stopped]
        if isinstance(attempt, str):
            observations = {_key(p): Stopped(attempt) for exercise in probes for p in exercise}
        else:
            observations = self._ask_all(attempt, probes)
            self._close(attempt)
        done = tuple(runs.get(i, _not_run(cell)) for i, cell in enumerate(cells))
        seconds = time.monotonic() - started
        return SubmissionRun(
            done, observations, self._cpu, seconds, self._peak, tuple(self._notes)
        )

    def _run_cells(
        self, cells: Sequence[Cell], files: Mapping[str, bytes], seed: int
    ) -> tuple[dict[int, CellRun], _Attempt | str]:
        """Run the cells, again without a culprit where one ends the process.

        Returns:
            the cells' runs by index, and the attempt that waits for probes, or why there is none.
        """
        wanted = list(range(len(cells)))
        stopped: dict[int, CellRun] = {}
        for tries_left in range(MAX_TRIES_AGAIN, -2, -1):
            attempt = _Attempt(self._control, self._limits, self._deadline)
            runs: dict[int, CellRun] = {}
            try:
                attempt.send_submission(cells, wanted, files, seed)
                for index in wanted:
                    runs[index] = attempt.read_cell(index, cells[index].id)
                return {**runs, **stopped}, attempt
            except _Ended as ended:
                self._close(attempt)
                reason = attempt.why(str(ended))
                culprit = next((index for index in wanted if index not in runs), None)
                if culprit is None or isinstance(ended, _OutOfTime):
                    return {**runs, **stopped}, reason
                stopped[culprit] = CellRun(cells[culprit].id, (), "stopped", reason)
                self._notes.append(f"cell {culprit + 1} {reason}")
                wanted.remove(culprit)
                if tries_left == 0:
                    wanted = [index for index in wanted if index < culprit]
        return {**runs, **stopped}, reason

    def _ask_all(
        self, attempt: _Attempt, probes: Sequence[Sequence[Probe]]
    ) -> dict[tuple[str, str], bytes | Stopped]:
        seen: dict[tuple[str, str], bytes | Stopped] = {}
        over = ""
        for group in in_safe_order(probes):
            if not over:
                try:
                    seen.update(attempt.ask(group))
                except _Ended as ended:
                    # What it had answered of this group goes with it: it is the same process.
                    self._close(attempt)
                    over = attempt.why(str(ended))
                    self._notes.append(f"probing {group[0].exercise}: {over}")
            for probe in group:
                seen.setdefault(_key(probe), Stopped(over))
        return seen

    def _close(self, attempt: _Attempt) -> None:
        if attempt.closed:
            return
        attempt.close()
        self._cpu += attempt.cpu
        self._peak = max(self._peak, attempt.peak)


def in_safe_order(probes: Sequence[Sequence[Probe]]) -> list[list[Probe]]:
    """The probes in groups of one exercise and one set of references, those without any first.

    A group runs in a process of its own. A reference of exercise 1 that exercise 2 uses travels
    after every probe that asks for exercise 1, be it one of a later, chained exercise.
    """
    groups: dict[tuple[bool, str, str], list[Probe]] = {}
    for exercise in probes:
        for probe in exercise:
            groups.setdefault((bool(probe.uses), probe.exercise, probe.uses), []).append(probe)
    return sorted(groups.values(), key=lambda group: bool(group[0].uses))


class _Attempt:
    """One process that runs a submission, from its start until nothing of it is left."""

    def __init__(self, control: socket.socket, limits: Limits, deadline: float) -> None:
        self._control = control
        self._limits = limits
        self._deadline = deadline
        self._output_left = limits.output_bytes
        self._answers_left = limits.answer_bytes
        self._memory = False
        self._ended = False
        self.closed = False
        self.cpu = 0.0
        self.peak = 0
        self._channel, theirs = socket.socketpair()
        try:
            socket.send_fds(control, [b'{"run": true}'], [theirs.fileno()])
        except OSError as error:
            raise ServerGone("it does not take submissions") from error
        finally:
            theirs.close()
        try:
            self._reply(_WALL_SECONDS, _SMALL_TEXT, 0)
        except _Ended as error:
            self.close()
            raise ServerGone("the wall around a submission could not be raised") from error

    def send_submission(
        self, cells: Sequence[Cell], wanted: Sequence[int], files: Mapping[str, bytes], seed: int
    ) -> None:
        """Send the cells named by `wanted`, the data files and the seed."""
        names = [[name, len(data)] for name, data in files.items()]
        sources = [[index, cells[index].source] for index in wanted]
        self._send({"cells": sources, "files": names, "seed": seed}, b"".join(files.values()))

    def read_cell(self, index: int, cell_id: str) -> CellRun:
        """Wait for one cell's outputs."""
        limits = self._limits
        most = 8 * limits.cell_output_bytes + _SMALL_TEXT
        answer = self._reply(limits.cell_seconds + _GRACE_SECONDS, most, 0).message
        state = answer.get("state")
        if answer.get("cell") != index or state not in ("ok", "error", "stopped"):
            raise _Ended(_FORGED)
        outputs, spent = clean_outputs(answer.get("outputs"), self._output_left)
        self._output_left -= spent
        reason = _too_slow(limits.cell_seconds) if state == "stopped" else ""
        return CellRun(cell_id, outputs, state, reason)

    def ask(self, probes: Sequence[Probe]) -> dict[tuple[str, str], bytes | Stopped]:
        """Send one group of probes and read their answers."""
        seconds = self._limits.probe_seconds
        give_up = time.monotonic() + seconds + _GRACE_SECONDS
        self._send({"probes": [probe.to_json() for probe in probes], "seconds": seconds})
        seen: dict[tuple[str, str], bytes | Stopped] = {}
        while True:
            left = give_up - time.monotonic()
            frame = self._reply(left, _SMALL_TEXT, self._answers_left)
            self._answers_left -= len(frame.body)
            match frame.message:
                case {"done": str(how)}:
                    break
                case {"check": int(index), "refused": str(why)} if 0 <= index < len(probes):
                    seen[_key(probes[index])] = Stopped(why[:300])
                case {"check": int(index)} if 0 <= index < len(probes):
                    seen[_key(probes[index])] = frame.body
                case _:
                    raise _Ended(_FORGED)
        self._listen_to_server(wait=0)
        reason = self.why(_too_slow(seconds) if how == "late" else _ENDED_ITSELF)
        self._memory = False
        return {_key(probe): seen.get(_key(probe), Stopped(reason)) for probe in probes}

    def why(self, reason: str) -> str:
        """`reason`, unless the server has told of a better one."""
        if self._memory:
            return f"went past {self._limits.memory_bytes / GIB:g} GiB of memory"
        return reason

    def close(self) -> None:
        """End all of its processes and wait until none is left."""
        self.closed = True
        self._channel.close()
        if not self._ended:
            try:
                self._control.send(b'{"stop": true}')
            except OSError as error:
                raise ServerGone("it is not there any more") from error
        give_up = time.monotonic() + _END_SECONDS
        while not self._ended:
            self._listen_to_server(wait=max(0.0, give_up - time.monotonic()))
            if not self._ended and time.monotonic() >= give_up:
                raise ServerGone("it did not end a submission")

    def _send(self, message: dict[str, Any], body: bytes = b"") -> None:
        deadline = min(self._deadline, time.monotonic() + _WALL_SECONDS)
        try:
            frames.send(self._channel, message, body, deadline)
        except (frames.Closed, frames.Late) as error:
            raise _Ended(_ENDED_ITSELF) from error

    def _reply(self, seconds: float, max_text: int, max_body: int) -> frames.Frame:
        """The next frame, within `seconds` and the submission's own time."""
        deadline = min(time.monotonic() + seconds, self._deadline)
        try:
            self._wait(deadline)
            return frames.receive(self._channel, max_text, max_body, deadline)
        except frames.Late as error:
            if deadline == self._deadline:
                raise _OutOfTime(
                    f"the notebook takes longer than {self._limits.submission_seconds:g} s"
                ) from error
            raise _Ended(_too_slow(seconds - _GRACE_SECONDS)) from error
        except frames.BadFrame as error:
            raise _Ended(_FORGED) from error
        except frames.Closed as error:
            raise _Ended(_ENDED_ITSELF) from error

    def _wait(self, deadline: float) -> None:
        """Return when the channel has something; meanwhile listen to the server."""
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise frames.Late("no reply in time")
            ready, _, _ = select.select([self._channel, self._control], [], [], left)
            if self._channel in ready:
                return
            if self._control in ready:
                self._listen_to_server(wait=0)
            if self._ended and self._channel not in ready:
                raise frames.Closed("it has ended")

    def _listen_to_server(self, wait: float) -> None:
        """Take what the server has to say; wait for up to `wait` seconds for a first message."""
        while select.select([self._control], [], [], wait)[0]:
            wait = 0
            try:
                packet = self._control.recv(4096)
            except OSError:
                packet = b""
            if not packet:
                raise ServerGone("it is not there any more")
            message = json.loads(packet)
            if "memory" in message:
                self._memory = True
            if "ended" in message:
                self._ended = True
                self.cpu, self.peak = float(message["cpu"]), int(message["peak"])


def _too_slow(seconds: float) -> str:
    return f"stopped after {seconds:g} s: {_LOOP}"


def _not_run(cell: Cell) -> CellRun:
    return CellRun(cell.id, (), "stopped", "not run, because of what came before it")


def _key(probe: Probe) -> tuple[str, str]:
    return probe.exercise, probe.check
