"""A fork server that only plays a script: its messages are drawn beforehand."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradekit.sandbox.sandbox import Sandbox
from gradekit.untrusted.limits import Limits

ENDED = {"ended": True, "cpu": 0.25, "peak": 2**20}


@dataclass(frozen=True)
class Script:
    """The messages of one submission's process.

    Attributes:
        wire: bytes for the submission's channel.
        hangs: it keeps the channel open afterwards, and sends nothing.
        control: packets from the server itself, before its last.
        last: its last packet; a real server sends ENDED.
    """

    wire: bytes
    hangs: bool = False
    control: tuple[bytes, ...] = ()
    last: bytes = json.dumps(ENDED).encode()

    @property
    def is_sound(self) -> bool:
        """Whether a real server could send this; then a failure is the student's."""
        started = self.wire.startswith(framed({"started": True}))
        return started and not self.control and self.last == json.dumps(ENDED).encode()


def framed(message: Any, body: bytes = b"") -> bytes:
    """A frame of a message, or of the bytes given instead."""
    text = message if isinstance(message, bytes) else json.dumps(message).encode()
    return struct.pack("!II", len(text), len(body)) + text + body


class ScriptedSandbox(Sandbox):
    """The trusted side's sandbox over servers that play scripts, one script for each connection."""

    def __init__(self, scripts: Sequence[Script], limits: Limits) -> None:
        super().__init__(Path("/nonexistent"), limits)
        self._scripts = list(scripts)
        self._at = 0

    def start(self) -> None:
        if self._server is None:
            self._server = _Server(self)  # type: ignore[assignment]

    def next(self) -> Script:
        """The script of the next connection; the last one is played again and again."""
        script = self._scripts[min(self._at, len(self._scripts) - 1)]
        self._at += 1
        return script


class _Server:
    def __init__(self, plan: ScriptedSandbox) -> None:
        self._plan = plan
        self.control, self._theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def last_error(self) -> str:
        return "it played its part"

    def close(self) -> None:
        self.control.close()
        self._thread.join(10)
        assert not self._thread.is_alive()

    def _serve(self) -> None:
        with self._theirs:
            while True:
                try:
                    packet, channels, _, _ = socket.recv_fds(self._theirs, 4096, 1)
                    if not packet:
                        return
                    if channels:
                        self._play(socket.socket(fileno=channels[0]), self._plan.next())
                except OSError:
                    return

    def _play(self, channel: socket.socket, script: Script) -> None:
        reader = threading.Thread(target=_drain, args=(channel,), daemon=True)
        reader.start()
        with channel:
            with suppress(OSError):
                channel.sendall(script.wire)
                for packet in script.control:
                    self._theirs.send(packet)
                if not script.hangs:
                    channel.shutdown(socket.SHUT_RDWR)
            self._theirs.recv(4096)  # "stop", or the trusted side has ended
            with suppress(OSError):
                channel.shutdown(socket.SHUT_RDWR)
            reader.join(10)
        if script.last:
            self._theirs.send(script.last)
        else:
            self._theirs.shutdown(socket.SHUT_RDWR)


def _drain(channel: socket.socket) -> None:
    with suppress(OSError):
        while channel.recv(2**16):
            pass
