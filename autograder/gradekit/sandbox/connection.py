"""The trusted side's end of the connection to one process that runs a submission.

It believes nothing. A reply must keep to a size, a form and a deadline; if it does not, the process
is ended.

Tested in tests/gradekit/sandbox/test_connection.py and tests/attacks.
"""

from __future__ import annotations

import json
import re
import select
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from gradekit.sandbox import limit_messages
from gradekit.sandbox.output_filter import clean_outputs
from gradekit.sandbox.result import CellRun, ChangedName
from gradekit.untrusted import frames
from gradekit.untrusted.limits import ExerciseLimits, LimitKind, Limits
from gradekit.untrusted.messages import Cell, Probe, Stopped

_GRACE_SECONDS = 2.0
_START_SECONDS = 30.0
_SEND_SECONDS = 30.0
# Of a fork bomb, each process must be given time to end; on a loaded machine that took 75 s.
_END_SECONDS = 180.0
_SMALL_TEXT = 2**16
_FORGED = "wrote something of its own into the grader's channel"
# The most messages of a cell before its result: that its time, or its CPU time, is over.
_MOST_REPORTS = 2
_MOST_CHANGES = 50


class ServerLostError(RuntimeError):
    """The fork server ended, or broke the protocol."""


class ProcessEndedError(Exception):
    """The submission's process has ended, or its messages are ignored; the message says why."""


class ProcessEndedForGoodError(ProcessEndedError):
    """Another try would fail in the same way: all its time is over, or it is too large."""


class Connection:
    """One process that runs a submission, from its start to the end of all its children."""

    def __init__(self, control: socket.socket, limits: Limits, deadline: float) -> None:
        self._control = control
        self._limits = limits
        self._deadline = deadline
        self._output_left = limits.output_bytes
        self._answers_left = limits.answer_bytes
        self._sources: Sequence[str] = ()
        self._graded: Mapping[str, Any] = {}
        self._locations = limit_messages.CodeLocations(())
        self._memory = False
        self._files = False
        self._cpu_location: str | None = None
        self._ended = False
        self.closed = False
        self.cpu = 0.0
        self.peak = 0
        self._channel, theirs = socket.socketpair()
        try:
            socket.send_fds(control, [b'{"run": true}'], [theirs.fileno()])
        except OSError as error:
            self.abandon()
            raise ServerLostError("it does not accept submissions") from error
        finally:
            theirs.close()
        try:
            self._receive(time.monotonic() + _START_SECONDS, _SMALL_TEXT, 0)
        except (frames.FrameError, frames.ChannelClosedError, frames.ChannelTimeoutError) as error:
            self.abandon()
            raise ServerLostError("the submission's process could not be isolated") from error
        except BaseException:
            self.abandon()
            raise

    def send_submission(
        self,
        cells: Sequence[Cell],
        wanted: Sequence[int],
        files: Mapping[str, bytes],
        seed: int,
        graded: Mapping[str, Mapping[str, str]],
    ) -> None:
        """Send the cells with the indices `wanted`, the data files, the seed and the names."""
        self._sources = [cell.source for cell in cells]
        self._graded = graded
        self._locations = limit_messages.CodeLocations(self._sources)
        names = [[name, len(data)] for name, data in files.items()]
        sources = [[index, cells[index].source, cells[index].checks] for index in wanted]
        order = {"cells": sources, "files": names, "seed": seed, "graded": graded}
        self._send(order, b"".join(files.values()))

    def read_cell(self, index: int, cell_id: str) -> CellRun:
        """Wait for one cell's outputs."""
        limits = self._limits
        most = 8 * limits.cell_output_bytes + _SMALL_TEXT
        give_up = time.monotonic() + limits.cell_seconds + _GRACE_SECONDS
        limit, location = LimitKind.TIME, ""
        for _ in range(1 + _MOST_REPORTS):
            late = limit_messages.message_for(limit, limits, location=location)
            answer = self._reply(give_up, late, most, 0).message
            state = answer.get("state")
            if answer.get("cell") != index or state not in (None, "ok", "error", "stopped"):
                raise ProcessEndedError(_FORGED)
            reported = _limit_in(answer)
            limit = reported or LimitKind.TIME
            location = self._locations.of(answer.get("where")) if reported else ""
            if reported is LimitKind.CPU:
                self._cpu_location = location
            if state is not None:
                break
        else:
            raise ProcessEndedError(_FORGED)
        outputs, spent = clean_outputs(answer.get("outputs"), self._output_left)
        self._output_left -= spent
        self._memory = False  # the process killed for its memory was not the one that runs cells
        exceeded = reported is not None or state == "stopped"
        reason = limit_messages.message_for(limit, limits, location=location) if exceeded else ""
        return CellRun(cell_id, outputs, state, reason, self._changes(answer.get("changes")))

    def _changes(self, reported: object) -> tuple[ChangedName, ...]:
        """What cells changed, if the names are known and the cells contain them."""
        found = []
        for item in reported[:_MOST_CHANGES] if isinstance(reported, list) else ():
            match item:
                case [str(exercise), str(name), int(cell)] if (
                    exercise in self._graded
                    and name.isidentifier()
                    and 0 <= cell < len(self._sources)
                    and re.search(rf"\b{name}\b", self._sources[cell])
                ):
                    found.append(ChangedName(exercise, name, cell))
        return tuple(found)

    def ask(self, probes: Sequence[Probe]) -> dict[tuple[str, str], bytes | Stopped]:
        """Send one group of probes and read their answers."""
        own = probes[0].limits or self._limits.of_an_exercise
        left = min(own.answer_bytes, self._answers_left)
        give_up = time.monotonic() + own.seconds + _GRACE_SECONDS
        limits = asdict(replace(own, answer_bytes=left))
        self._send({"probes": [probe.to_json() for probe in probes], "limits": limits})
        late = limit_messages.message_for(LimitKind.TIME, self._limits, own)
        seen: dict[tuple[str, str], bytes | Stopped] = {}
        unanswered = set(range(len(probes)))
        while True:
            frame = self._reply(give_up, late, _SMALL_TEXT, left)
            left -= len(frame.body)
            self._answers_left -= len(frame.body)
            match frame.message:
                case {"done": str()}:
                    break
                case {"check": int(index)} if index in unanswered:
                    unanswered.remove(index)
                    why = self._limit_words(frame.message, own)
                    seen[probe_key(probes[index])] = Stopped(why) if why else frame.body
                case _:
                    raise ProcessEndedError(_FORGED)
        self._read_server(wait=0)
        reason = self.why(self._limit_words(frame.message, own) or limit_messages.ENDED_ITSELF)
        self._memory = False
        return {probe_key(probe): seen.get(probe_key(probe), Stopped(reason)) for probe in probes}

    def _limit_words(self, message: Mapping[str, Any], own: ExerciseLimits) -> str:
        """The limit that a message names, in this side's words: its own may quote a probe."""
        limit = _limit_in(message)
        if limit is None:
            return ""
        location = self._locations.of(message.get("where"))
        return limit_messages.message_for(limit, self._limits, own, location)

    def why(self, reason: str) -> str:
        """`reason`, or a better one from the server or from an earlier report."""
        if self._memory:
            return limit_messages.message_for(LimitKind.MEMORY, self._limits)
        if self._files:
            return limit_messages.message_for(LimitKind.TOTAL_FILE_SIZE, self._limits)
        used_up = self._cpu_location is not None or self.cpu > self._limits.cpu_seconds
        if used_up and reason == limit_messages.ENDED_ITSELF:
            location = self._cpu_location or ""
            return limit_messages.message_for(LimitKind.CPU, self._limits, location=location)
        return reason

    def abandon(self) -> None:
        """Stop listening. The server need not end anything: it is about to be closed itself."""
        self.closed = True
        self._channel.close()

    def close(self) -> None:
        """End all processes of the submission and wait until none is left."""
        self.abandon()
        if not self._ended:
            try:
                self._control.send(b'{"stop": true}')
            except OSError as error:
                raise ServerLostError("it has ended") from error
        give_up = time.monotonic() + _END_SECONDS
        while not self._ended:
            self._read_server(wait=max(0.0, give_up - time.monotonic()))
            if not self._ended and time.monotonic() >= give_up:
                raise ServerLostError("it did not end a submission")

    def _send(self, message: dict[str, Any], body: bytes = b"") -> None:
        deadline = min(self._deadline, time.monotonic() + _SEND_SECONDS)
        try:
            frames.send(self._channel, message, body, deadline)
        except frames.FrameError as error:
            raise ProcessEndedForGoodError(limit_messages.too_large_to_send(error)) from error
        except frames.ChannelClosedError as error:
            raise ProcessEndedError(limit_messages.ENDED_ITSELF) from error
        except frames.ChannelTimeoutError as error:
            raise self._late(deadline, f"did not read for {_SEND_SECONDS:g} s") from error

    def _reply(self, give_up: float, late: str, max_text: int, max_body: int) -> frames.Frame:
        """The next frame, before `give_up` (`late` is the reason if it is not) and the deadline."""
        deadline = min(give_up, self._deadline)
        try:
            return self._receive(deadline, max_text, max_body)
        except frames.ChannelTimeoutError as error:
            raise self._late(deadline, late) from error
        except frames.FrameError as error:
            raise ProcessEndedError(_FORGED) from error
        except frames.ChannelClosedError as error:
            raise ProcessEndedError(limit_messages.ENDED_ITSELF) from error

    def _late(self, deadline: float, late: str) -> ProcessEndedError:
        if deadline == self._deadline:
            return ProcessEndedForGoodError(limit_messages.whole_time(self._limits))
        return ProcessEndedError(late)

    def _receive(self, deadline: float, max_text: int, max_body: int) -> frames.Frame:
        """The next frame; until it arrives, read the server's messages."""
        while not _ready(self._channel, wait=0):
            left = deadline - time.monotonic()
            if left <= 0:
                raise frames.ChannelTimeoutError("no reply before the deadline")
            select.select([self._channel, self._control], [], [], left)
            self._read_server(wait=0)
            if self._ended and not _ready(self._channel, wait=0):
                raise frames.ChannelClosedError("it has ended")
        return frames.receive(self._channel, max_text, max_body, deadline)

    def _read_server(self, wait: float) -> None:
        """Read the server's messages; wait up to `wait` seconds for the first one."""
        while _ready(self._control, wait):
            wait = 0
            try:
                packet = self._control.recv(4096)
            except OSError:
                packet = b""
            if not packet:
                raise ServerLostError("it has ended")
            try:
                message = json.loads(packet)
                if "memory" in message:
                    self._memory = True
                if "files" in message:
                    self._files = True
                if "ended" in message:
                    self._ended = True
                    self.cpu, self.peak = float(message["cpu"]), int(message["peak"])
            except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
                raise ServerLostError("it sent a message of the wrong form") from error


def _limit_in(message: Mapping[str, Any]) -> LimitKind | None:
    """The limit that a message names, if there is such a limit."""
    name = message.get("limit")
    return LimitKind(name) if isinstance(name, str) and name in set(LimitKind) else None


def _ready(channel: socket.socket, wait: float) -> bool:
    return bool(select.select([channel], [], [], wait)[0])


def probe_key(probe: Probe) -> tuple[str, str]:
    """The key of a probe's answer."""
    return probe.exercise, probe.check
