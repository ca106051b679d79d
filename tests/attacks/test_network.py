"""A notebook connects to the internet, or to a service of the grader's own machine."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.helpers.attack import said


@contextmanager
def listener(family: str, address: object) -> Iterator[socket.socket]:
    """A server that accepts connections."""
    with socket.socket(getattr(socket, family)) as server:
        server.bind(address)
        server.listen()
        server.settimeout(0.2)
        yield server


def received(server: socket.socket) -> bytes:
    """The bytes from the first connection; empty if there is none."""
    try:
        connection, _ = server.accept()
    except TimeoutError:
        return b""
    with connection:
        return connection.recv(100)


def call(family: str, address: object) -> str:
    return (
        "import socket\n"
        f"s = socket.socket(socket.{family}); s.settimeout(2)\n"
        f"s.connect({address!r}); s.sendall(b'answers, please')\n"
    )


def pathname(tmp_path) -> str:
    return str(tmp_path / "socket")


@pytest.mark.parametrize(
    ("family", "address"),
    [
        ("AF_INET", lambda _: ("127.0.0.1", 0)),
        ("AF_UNIX", lambda _: "\0attention-labs-attack"),
        ("AF_UNIX", pathname),
    ],
    ids=["loopback", "abstract socket", "pathname socket"],
)
def test_no_listener_of_the_machine_can_be_reached(sandbox, unconfined, tmp_path, family, address):
    os.chmod(tmp_path, 0o755)
    with listener(family, address(tmp_path)) as server:
        said(unconfined, call(family, server.getsockname()))
        assert received(server) == b"answers, please"
        answer = said(sandbox, call(family, server.getsockname()))
        assert received(server) == b""
        assert "Error" in answer


def test_the_internet_is_out_of_reach(sandbox):
    refusal = {"bubblewrap": "Network is unreachable", "landlock": "Operation not permitted"}
    assert refusal[sandbox.level] in said(sandbox, call("AF_INET", ("192.0.2.1", 80)))
