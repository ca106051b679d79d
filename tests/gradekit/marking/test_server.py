"""The server answers the page that knows the token, and nobody else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection, HTTPResponse
from typing import Any

import pytest

from gradekit.course import Course
from gradekit.errors import MarkingError
from gradekit.marking.server import HOST, MarkingServer
from gradekit.marking.session import Marking
from tests.gradekit.marking.conftest import EVIL
from tests.helpers.servers import marking
from tests.helpers.submissions import LAB

JSON = {"Content-Type": "application/json"}


@pytest.fixture
def server(course: Course) -> Iterator[MarkingServer]:
    with marking(course, LAB) as server:
        yield server


def ask(
    server: MarkingServer,
    path: str,
    method: str = "GET",
    body: str | None = None,
    headers: dict[str, str] | None = None,
    token: str | None = None,
) -> tuple[HTTPResponse, bytes]:
    address = f"/{server.token if token is None else token}/{path}"
    with closing(HTTPConnection(HOST, server.port, timeout=30)) as connection:
        connection.request(method, address, body, headers or {})
        reply = connection.getresponse()
        return reply, reply.read()


def a_mark(server: MarkingServer, text: str = "Nobody", **change: Any) -> str:
    _, raw = ask(server, "api/state")
    (question,) = json.loads(raw)["questions"]
    answer = next(a for a in question["answers"] if a["text"].startswith(text))
    mark = {name: answer[name] for name in ("points", "comment", "items")}
    values = {"question": question["name"], "answer": answer["key"], "seen": mark, **mark}
    return json.dumps(values | {"points": 2} | change)


def points(server: MarkingServer) -> set[float | None]:
    _, raw = ask(server, "api/state")
    return {answer["points"] for answer in json.loads(raw)["questions"][0]["answers"]}


def test_the_page_and_its_parts_load_nothing_from_elsewhere(server: MarkingServer) -> None:
    for name in ("", "mark.css", "mark.js"):
        reply, body = ask(server, name)
        assert reply.status == 200
        assert b"http" not in body.replace(b"http-equiv", b"")
        assert b"innerHTML" not in body
        policy = reply.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert reply.headers["Referrer-Policy"] == "no-referrer"
        assert reply.headers["Cache-Control"] == "no-store"


def test_a_mark_is_saved_and_taken_back(server: MarkingServer) -> None:
    reply, raw = ask(server, "api/mark", "POST", a_mark(server), JSON)
    assert (reply.status, json.loads(raw)["done"]) == (200, 1)
    assert points(server) == {None, 2}
    reply, _ = ask(server, "api/undo", "POST", "{}", JSON)
    assert reply.status == 200
    assert points(server) == {None}


def test_hostile_text_is_data_and_has_no_control_characters(server: MarkingServer) -> None:
    reply, raw = ask(server, "api/state")
    texts = [a["text"] for a in json.loads(raw)["questions"][0]["answers"]]
    assert EVIL.replace("\u202e", "�") in texts
    assert reply.headers["Content-Type"].startswith("application/json")
    assert reply.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("token", ["", "x", "x" * 43])
def test_without_the_token_there_is_nothing(server: MarkingServer, token: str) -> None:
    for path in ("", "mark.js", "api/state"):
        reply, body = ask(server, path, token=token)
        assert reply.status == 404
        assert server.token.encode() not in body
    reply, _ = ask(server, "api/mark", "POST", a_mark(server), JSON, token)
    assert reply.status == 404
    assert points(server) == {None}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Host": "evil.example"}, 403),  # as after DNS rebinding
        ({"Content-Type": "text/plain"}, 415),  # what a form of another page can send
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
    ],
)
def test_another_page_can_do_nothing_even_with_the_token(
    server: MarkingServer, headers: dict[str, str], status: int
) -> None:
    mark = a_mark(server)
    reply, _ = ask(server, "api/mark", "POST", mark, JSON | headers)
    assert reply.status == status
    assert points(server) == {None}
    reply, _ = ask(
        server, "api/mark", "POST", mark, JSON | {"Origin": f"http://{HOST}:{server.port}"}
    )
    assert reply.status == 200, "the page itself can"


@pytest.mark.parametrize("body", ["", "{", "[" * 10**5, "3", "\x00"])
def test_an_unreadable_request_is_refused(server: MarkingServer, body: str) -> None:
    reply, raw = ask(server, "api/mark", "POST", body, JSON)
    assert reply.status == 400
    assert "reload" in json.loads(raw)["error"]


def test_a_request_of_a_megabyte_is_not_read(server: MarkingServer) -> None:
    try:
        reply, _ = ask(server, "api/mark", "POST", a_mark(server, comment="x" * 2**20), JSON)
    except OSError:  # the server hangs up
        pass
    else:
        assert reply.status == 400
    assert points(server) == {None}


@pytest.mark.parametrize(
    ("path", "method"),
    [
        ("../mark.js", "GET"),
        ("mark.py", "GET"),
        ("api/mark", "GET"),
        ("api/state", "POST"),
        ("", "PUT"),
    ],
)
def test_other_addresses_and_methods_are_refused(
    server: MarkingServer, path: str, method: str
) -> None:
    reply, body = ask(server, path, method, "{}" if method == "POST" else None, JSON)
    assert reply.status in (404, 405)
    assert b"Traceback" not in body


def test_a_conflict_says_what_is_there_now(server: MarkingServer) -> None:
    mark = a_mark(server)
    assert ask(server, "api/mark", "POST", mark, JSON)[0].status == 200
    reply, raw = ask(server, "api/mark", "POST", mark.replace('"points": 2', '"points": 1'), JSON)
    told = json.loads(raw)
    assert reply.status == 409
    assert told["now"]["answer"]["points"] == 2


def test_a_gradebook_that_is_gone_is_told(server: MarkingServer, course: Course) -> None:
    mark = a_mark(server)
    (course.root / "gradebook.db").write_bytes(b"no database")
    reply, raw = ask(server, "api/mark", "POST", mark, JSON)
    assert reply.status == 503
    assert json.loads(raw)["error"].startswith("Not saved: ")


def test_a_port_that_is_taken_is_an_error(server: MarkingServer, course: Course) -> None:
    with pytest.raises(MarkingError, match=f"port {server.port} cannot be used"):
        MarkingServer(Marking(course, LAB), server.port)
