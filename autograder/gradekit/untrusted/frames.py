"""Frames: single messages between the trusted and the untrusted process.

A frame is two lengths (4 bytes each, big-endian), a JSON object and raw bytes. Both sides limit
what they read and what they send, so even a hostile reply is not larger than its reader allows.
Nothing is ever unpickled. Both sides import this file, and it imports nothing of either.

Tested in tests/gradekit/untrusted/test_frames.py and tests/attacks/test_fuzz_frames.py.
"""

from __future__ import annotations

import json
import socket
import struct
import time
from dataclasses import dataclass
from typing import Any

MAX_TEXT = 16 * 2**20
MAX_BODY = 256 * 2**20

_HEAD = struct.Struct("!II")


class FrameError(ValueError):
    """The bytes that arrived are not a frame, or one that is too large. The message says which."""


class ChannelClosedError(EOFError):
    """The other side closed the channel, or ended in the middle of a frame."""


class ChannelTimeoutError(TimeoutError):
    """The other side did not send, or did not read, before the deadline."""


@dataclass(frozen=True)
class Frame:
    """One message: a JSON object and raw bytes."""

    message: dict[str, Any]
    body: bytes = b""


def send(
    channel: socket.socket,
    message: dict[str, Any],
    body: bytes = b"",
    deadline: float | None = None,
) -> None:
    """Send one frame.

    Args:
        channel: a connected stream socket.
        message: an object that JSON can hold.
        body: raw bytes.
        deadline: the time of ``time.monotonic()`` at which to give up; None waits forever.

    Raises:
        FrameError: the frame is larger than any reader may allow.
        ChannelClosedError: the other side has ended.
        ChannelTimeoutError: the other side did not read before the deadline.
    """
    text = json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")
    if len(text) > MAX_TEXT or len(body) > MAX_BODY:
        raise FrameError(f"{len(text):,} bytes of JSON and {len(body):,} raw bytes are too many")
    for part in (_HEAD.pack(len(text), len(body)) + text, body):
        _send_all(channel, memoryview(part), deadline)


def receive(
    channel: socket.socket,
    max_text: int = MAX_TEXT,
    max_body: int = MAX_BODY,
    deadline: float | None = None,
) -> Frame:
    """Wait for one frame of at most `max_text` bytes of JSON and `max_body` raw bytes.

    Raises:
        FrameError: the bytes are not a frame, or the frame is larger.
        ChannelClosedError: the channel ended.
        ChannelTimeoutError: no complete frame arrived before `deadline`.
    """
    text_length, body_length = _HEAD.unpack(_receive_exactly(channel, _HEAD.size, deadline))
    if text_length > max_text:
        raise FrameError(f"{text_length:,} bytes of JSON, more than {max_text:,}")
    if body_length > max_body:
        raise FrameError(f"{body_length:,} raw bytes, more than {max_body:,}")
    text = _receive_exactly(channel, text_length, deadline)
    body = _receive_exactly(channel, body_length, deadline)
    try:
        message = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FrameError(f"not JSON: {type(error).__name__}") from error
    if not isinstance(message, dict):
        raise FrameError("expected a JSON object")
    return Frame(message, bytes(body))


def _send_all(channel: socket.socket, data: memoryview, deadline: float | None) -> None:
    while data:
        _set_timeout(channel, deadline)
        try:
            data = data[channel.send(data) :]
        except TimeoutError as error:
            raise ChannelTimeoutError("the other side did not read before the deadline") from error
        except OSError as error:
            raise ChannelClosedError("the other side has ended") from error


def _receive_exactly(channel: socket.socket, length: int, deadline: float | None) -> bytearray:
    # It grows as bytes arrive, so an announced length alone costs no memory.
    data = bytearray()
    while len(data) < length:
        _set_timeout(channel, deadline)
        try:
            piece = channel.recv(min(length - len(data), 2**20))
        except TimeoutError as error:
            raise ChannelTimeoutError("no complete frame arrived before the deadline") from error
        except OSError as error:
            raise ChannelClosedError("the other side has ended") from error
        if not piece:
            raise ChannelClosedError("the channel ended")
        data += piece
    return data


def _set_timeout(channel: socket.socket, deadline: float | None) -> None:
    if deadline is None:
        channel.settimeout(None)
        return
    left = deadline - time.monotonic()
    if left <= 0:
        raise ChannelTimeoutError("the deadline has passed")
    channel.settimeout(left)
