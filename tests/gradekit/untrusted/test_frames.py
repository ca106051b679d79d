"""Frames between two sockets: what is sent arrives, and junk is refused."""

import socket
import struct
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradekit.untrusted import frames


@pytest.fixture
def pair():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


@given(
    message=st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), st.integers()),
    body=st.binary(max_size=5000),
)
def test_a_sent_frame_arrives(message, body):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        frames.send(ours, message, body)
        assert frames.receive(theirs) == frames.Frame(message, body)


def test_large_bodies_arrive_whole(pair):
    ours, theirs = pair
    body = bytes(range(256)) * 40_000
    sender = threading.Thread(target=frames.send, args=(ours, {"n": 1}, body))
    sender.start()
    assert frames.receive(theirs).body == body
    sender.join()


def test_lone_surrogates_are_replaced(pair):
    ours, theirs = pair
    frames.send(ours, {"text": "a\ud800b"})
    assert frames.receive(theirs).message == {"text": "a?b"}


@pytest.mark.parametrize(
    "junk",
    [
        b"\xff" * 64,
        struct.pack("!II", 2**20, 0),
        struct.pack("!II", 2, 2**20) + b"{}",
        struct.pack("!II", 4, 0) + b"nope",
        struct.pack("!II", 2, 0) + b"[]",
        struct.pack("!II", 1000, 0) + b"[" * 1000,
        struct.pack("!II", 5000, 0) + b"9" * 5000,
        struct.pack("!II", 2, 0) + b"\xff\xff",
    ],
    ids=[
        "huge lengths",
        "long text",
        "long body",
        "not JSON",
        "not an object",
        "deep",
        "a huge number",
        "not UTF-8",
    ],
)
def test_junk_is_refused(pair, junk):
    ours, theirs = pair
    ours.sendall(junk)
    with pytest.raises(frames.FrameError):
        frames.receive(theirs, max_text=10_000, max_body=1000)


def test_a_deep_object_is_refused_or_read_but_never_breaks_the_reader(pair):
    ours, theirs = pair
    text = b'{"a":' * 50_000 + b"1" + b"}" * 50_000
    sender = threading.Thread(target=ours.sendall, args=(struct.pack("!II", len(text), 0) + text,))
    sender.start()
    with pytest.raises(frames.FrameError):
        frames.receive(theirs)
    sender.join()


def test_an_ended_channel_and_a_slow_one_are_different_errors(pair):
    ours, theirs = pair
    with pytest.raises(frames.ChannelTimeoutError):
        frames.receive(theirs, deadline=time.monotonic() + 0.05)
    ours.sendall(b"\0\0")
    ours.close()
    with pytest.raises(frames.ChannelClosedError):
        frames.receive(theirs)


def test_bytes_that_trickle_in_do_not_extend_the_time(pair):
    ours, theirs = pair
    stop = threading.Event()

    def trickle():
        while not stop.wait(0.02):
            ours.send(b"\0")

    sender = threading.Thread(target=trickle)
    started = time.monotonic()
    frame = struct.pack("!II", 10_000, 0)
    ours.sendall(frame)
    sender.start()
    with pytest.raises(frames.ChannelTimeoutError):
        frames.receive(theirs, deadline=started + 0.2)
    assert time.monotonic() - started < 1
    stop.set()
    sender.join()


def test_a_reader_that_does_not_read_does_not_hold_the_sender(pair):
    ours, _ = pair
    with pytest.raises(frames.ChannelTimeoutError):
        frames.send(ours, {}, bytes(2**24), deadline=time.monotonic() + 0.1)


def test_a_frame_that_is_too_large_is_not_sent(pair):
    ours, _ = pair
    with pytest.raises(frames.FrameError):
        frames.send(ours, {"text": "x" * (frames.MAX_TEXT + 1)})
