"""A notebook calls home, or a service of the grader's own machine."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from attack import said


@contextmanager
def listener(family: socket.AddressFamily, address) -> Iterator[tuple[object, Callable[[], bytes]]]:
    """A server that keeps what the first caller sends."""
    heard: list[bytes] = []
    with socket.socket(family) as server:
        server.bind(address)
        server.listen()
        server.settimeout(20)

        def serve() -> None:
            try:
                with server.accept()[0] as connection:
                    connection.settimeout(5)
                    heard.append(connection.recv(100))
            except OSError:
                return

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()

        def wait() -> bytes:
            thread.join(5)
            return b"".join(heard)

        yield server.getsockname(), wait
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


def call(family: str, address: object) -> str:
    return (
        "import socket\n"
        f"s = socket.socket(socket.{family}); s.settimeout(2)\n"
        f"s.connect({address!r}); s.sendall(b'answers, please')\n"
    )


def pathname(tmp_path) -> str:
    return str(tmp_path / "socket")


@pytest.mark.parametrize(
    ("family", "place"),
    [
        ("AF_INET", lambda _: ("127.0.0.1", 0)),
        ("AF_UNIX", lambda _: "\0attention-labs-attack"),
        ("AF_UNIX", pathname),
    ],
    ids=["loopback", "abstract socket", "pathname socket"],
)
def test_no_listener_of_the_machine_can_be_reached(sandbox, unconfined, tmp_path, family, place):
    os.chmod(tmp_path, 0o755)
    with listener(getattr(socket, family), place(tmp_path)) as (address, heard):
        said(unconfined, call(family, address))
        assert heard() == b"answers, please"
    (tmp_path / "socket").unlink(missing_ok=True)
    with listener(getattr(socket, family), place(tmp_path)) as (address, heard):
        answer = said(sandbox, call(family, address))
        assert "Error" in answer


def test_the_internet_is_out_of_reach(sandbox):
    assert "Network is unreachable" in said(sandbox, call("AF_INET", ("192.0.2.1", 80)))
