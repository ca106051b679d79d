"""The trusted side's end of one process that runs a submission.

It believes nothing: a reply has a size, a form and a time, and what breaks one of them is the end.
"""

from __future__ import annotations

import json
import select
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from gradekit.sandbox import limit_messages
from gradekit.sandbox.output_filter import clean_outputs
from gradekit.sandbox.result import CellRun
from gradekit.untrusted import frames
from gradekit.untrusted.limits import ExerciseLimits, LimitKind, Limits
from gradekit.untrusted.messages import Cell, Probe, Stopped

_GRACE_SECONDS = 2.0
_WALL_SECONDS = 30.0
_END_SECONDS = 20.0
_SMALL_TEXT = 2**16
_FORGED = "wrote something of its own into the grader's channel"
# What a cell may say before its last word: that its time is over.
_MOST_NEWS = 2


class ServerLostError(RuntimeError):
    """The fork server ended, or did not keep to the talk."""


class ProcessEndedError(Exception):
    """The submission's process is no more, or no longer listened to; the message says why."""


class ProcessEndedForGoodError(ProcessEndedError):
    """Another try would end in the same way: its whole time is over, or it is too large."""


class Connection:
    """One process that runs a submission, from its start until nothing of it is left."""

    def __init__(self, control: socket.socket, limits: Limits, deadline: float) -> None:
        self._control = control
        self._limits = limits
        self._deadline = deadline
        self._output_left = limits.output_bytes
        self._answers_left = limits.answer_bytes
        self._places = limit_messages.CodeLocations(())
        self._memory = False
        self._files = False
        self._cpu_at: str | None = None
        self._ended = False
        self.closed = False
        self.cpu = 0.0
        self.peak = 0
        self._channel, theirs = socket.socketpair()
        try:
            socket.send_fds(control, [b'{"run": true}'], [theirs.fileno()])
        except OSError as error:
            self.abandon()
            raise ServerLostError("it does not take submissions") from error
        finally:
            theirs.close()
        try:
            self._receive(time.monotonic() + _WALL_SECONDS, _SMALL_TEXT, 0)
        except (frames.FrameError, frames.ChannelClosedError, frames.ChannelTimeoutError) as error:
            self.abandon()
            raise ServerLostError("the wall around a submission could not be raised") from error
        except BaseException:
            self.abandon()
            raise

    def send_submission(
        self, cells: Sequence[Cell], wanted: Sequence[int], files: Mapping[str, bytes], seed: int
    ) -> None:
        """Send the cells named by `wanted`, the data files and the seed."""
        self._places = limit_messages.CodeLocations([cell.source for cell in cells])
        names = [[name, len(data)] for name, data in files.items()]
        sources = [[index, cells[index].source] for index in wanted]
        self._send({"cells": sources, "files": names, "seed": seed}, b"".join(files.values()))

    def read_cell(self, index: int, cell_id: str) -> CellRun:
        """Wait for one cell's outputs."""
        limits = self._limits
        most = 8 * limits.cell_output_bytes + _SMALL_TEXT
        give_up = time.monotonic() + limits.cell_seconds + _GRACE_SECONDS
        met, place = LimitKind.TIME, ""
        for _ in range(1 + _MOST_NEWS):
            answer = self._reply(
                give_up, limit_messages.reached(met, limits, place=place), most, 0
            ).message
            state = answer.get("state")
            if answer.get("cell") != index or state not in (None, "ok", "error", "stopped"):
                raise ProcessEndedError(_FORGED)
            now = _met(answer)
            met, place = now or LimitKind.TIME, self._places.of(answer.get("where")) if now else ""
            if now is LimitKind.CPU:
                self._cpu_at = place
            if state is not None:
                break
        else:
            raise ProcessEndedError(_FORGED)
        outputs, spent = clean_outputs(answer.get("outputs"), self._output_left)
        self._output_left -= spent
        self._memory = False  # what was killed for its memory was not what runs the cells
        reason = (
            limit_messages.reached(met, limits, place=place) if now or state == "stopped" else ""
        )
        return CellRun(cell_id, outputs, state, reason)

    def ask(self, probes: Sequence[Probe]) -> dict[tuple[str, str], bytes | Stopped]:
        """Send one group of probes and read their answers."""
        own = probes[0].limits or self._limits.of_an_exercise
        left = min(own.answer_bytes, self._answers_left)
        give_up = time.monotonic() + own.seconds + _GRACE_SECONDS
        limits = asdict(replace(own, answer_bytes=left))
        self._send({"probes": [probe.to_json() for probe in probes], "limits": limits})
        late = limit_messages.reached(LimitKind.TIME, self._limits, own)
        seen: dict[tuple[str, str], bytes | Stopped] = {}
        left_to_say = set(range(len(probes)))
        while True:
            frame = self._reply(give_up, late, _SMALL_TEXT, left)
            left -= len(frame.body)
            self._answers_left -= len(frame.body)
            match frame.message:
                case {"done": str()}:
                    break
                case {"check": int(index)} if index in left_to_say:
                    left_to_say.remove(index)
                    said = self._said(frame.message, own)
                    seen[probe_key(probes[index])] = Stopped(said) if said else frame.body
                case _:
                    raise ProcessEndedError(_FORGED)
        self._listen_to_server(wait=0)
        reason = self.why(self._said(frame.message, own) or limit_messages.ENDED_ITSELF)
        self._memory = False
        return {probe_key(probe): seen.get(probe_key(probe), Stopped(reason)) for probe in probes}

    def _said(self, message: Mapping[str, Any], own: ExerciseLimits) -> str:
        """The limit that a message speaks of; never in its own words, which may hold a question."""
        met = _met(message)
        if met is None:
            return ""
        return limit_messages.reached(met, self._limits, own, self._places.of(message.get("where")))

    def why(self, reason: str) -> str:
        """`reason`, unless there is a better one: told by the server, or before the end."""
        if self._memory:
            return limit_messages.reached(LimitKind.MEMORY, self._limits)
        if self._files:
            return limit_messages.reached(LimitKind.FOLDER, self._limits)
        used_up = self._cpu_at is not None or self.cpu > self._limits.cpu_seconds
        if used_up and reason == limit_messages.ENDED_ITSELF:
            return limit_messages.reached(LimitKind.CPU, self._limits, place=self._cpu_at or "")
        return reason

    def abandon(self) -> None:
        """Listen no more. The server is not asked to end anything: it is to be closed itself."""
        self.closed = True
        self._channel.close()

    def close(self) -> None:
        """End all of its processes and wait until none is left."""
        self.abandon()
        if not self._ended:
            try:
                self._control.send(b'{"stop": true}')
            except OSError as error:
                raise ServerLostError("it is not there any more") from error
        give_up = time.monotonic() + _END_SECONDS
        while not self._ended:
            self._listen_to_server(wait=max(0.0, give_up - time.monotonic()))
            if not self._ended and time.monotonic() >= give_up:
                raise ServerLostError("it did not end a submission")

    def _send(self, message: dict[str, Any], body: bytes = b"") -> None:
        deadline = min(self._deadline, time.monotonic() + _WALL_SECONDS)
        try:
            frames.send(self._channel, message, body, deadline)
        except frames.FrameError as error:
            raise ProcessEndedForGoodError(limit_messages.too_large_to_send(error)) from error
        except frames.ChannelClosedError as error:
            raise ProcessEndedError(limit_messages.ENDED_ITSELF) from error
        except frames.ChannelTimeoutError as error:
            raise self._late(deadline, f"did not listen for {_WALL_SECONDS:g} s") from error

    def _reply(self, give_up: float, late: str, max_text: int, max_body: int) -> frames.Frame:
        """The next frame, before `give_up`, else it is `late`, or before all time is over."""
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
        """The next frame; until it comes, listen to the server."""
        while not _ready(self._channel, wait=0):
            left = deadline - time.monotonic()
            if left <= 0:
                raise frames.ChannelTimeoutError("no reply in time")
            select.select([self._channel, self._control], [], [], left)
            self._listen_to_server(wait=0)
            if self._ended and not _ready(self._channel, wait=0):
                raise frames.ChannelClosedError("it has ended")
        return frames.receive(self._channel, max_text, max_body, deadline)

    def _listen_to_server(self, wait: float) -> None:
        """Take what the server has to say; wait for up to `wait` seconds for a first message."""
        while _ready(self._control, wait):
            wait = 0
            try:
                packet = self._control.recv(4096)
            except OSError:
                packet = b""
            if not packet:
                raise ServerLostError("it is not there any more")
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
                raise ServerLostError("it said what it never says") from error


def _met(message: Mapping[str, Any]) -> LimitKind | None:
    """The limit that a message names, if it is one."""
    met = message.get("met")
    return LimitKind(met) if isinstance(met, str) and met in set(LimitKind) else None


def _ready(channel: socket.socket, wait: float) -> bool:
    return bool(select.select([channel], [], [], wait)[0])


def probe_key(probe: Probe) -> tuple[str, str]:
    """What a probe's answer is filed under."""
    return probe.exercise, probe.check
