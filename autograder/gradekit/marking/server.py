"""The page of ``lab mark``: a server for one person, on this machine only.

Anyone who knows the token, which is a part of every address, may use it. No other web page can: it
does not know the token, a browser shows it no answer (no CORS), and requests that name another host
or come from another origin are refused, so DNS rebinding gains nothing, either. The page is static;
students' texts reach it as JSON and are shown as text.
"""

from __future__ import annotations

import hmac
import json
import secrets
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import tornado.web
from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop

from gradekit.errors import LabError, MarkingError
from gradekit.marking.session import BadMarkError, Marking, OutdatedError

HOST = "127.0.0.1"
_STATIC = Path(__file__).parent / "static"
_MOST_BYTES = 2**18
_FILES = {
    "": ("mark.html", "text/html; charset=utf-8"),
    "mark.css": ("mark.css", "text/css; charset=utf-8"),
    "mark.js": ("mark.js", "text/javascript; charset=utf-8"),
}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class MarkingServer:
    """A server that is ready to answer.

    Attributes:
        address: of the page, with the token.
    """

    def __init__(self, marking: Marking, port: int = 0) -> None:
        """Bind the port; 0 takes a free one.

        Raises:
            MarkingError: the port cannot be used.
        """
        self.token = secrets.token_urlsafe(32)
        try:
            listening = socket.create_server((HOST, port))
        except OSError as error:
            raise MarkingError(
                f"port {port} cannot be used ({error.strerror}); name another one with --port, or "
                "omit it"
            ) from error
        listening.setblocking(False)
        self.port = listening.getsockname()[1]
        about = {"marking": marking, "token": self.token, "origin": f"http://{HOST}:{self.port}"}
        application = tornado.web.Application(
            [
                (r"/([^/]+)/api/(state|mark|undo)", _Api, about),
                (r"/([^/]+)/([\w.]*)", _File, about),
                (r".*", _Nothing, about),
            ],
            log_function=lambda handler: None,  # the addresses hold the token
        )
        self._server = HTTPServer(application, max_body_size=_MOST_BYTES)
        self._server.add_socket(listening)
        self.address = f"{about['origin']}/{self.token}/"

    def run(self) -> None:
        """Answer until the process is interrupted, or the loop is stopped."""
        loop = IOLoop.current()
        with suppress(ValueError):  # only the main thread is told of signals
            signal.signal(signal.SIGINT, lambda *_: loop.add_callback_from_signal(loop.stop))
        loop.start()
        self._server.stop()
        loop.run_sync(self._server.close_all_connections)
        loop.close()


class _Guarded(tornado.web.RequestHandler):
    """Refuses each request that comes neither from the page nor from the person who opens it."""

    def initialize(self, marking: Marking, token: str, origin: str) -> None:
        self.marking, self.token, self.origin = marking, token, origin

    def set_default_headers(self) -> None:
        self.clear_header("Server")
        self.set_header("Content-Security-Policy", _POLICY)
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Referrer-Policy", "no-referrer")
        self.set_header("Cross-Origin-Opener-Policy", "same-origin")
        self.set_header("Cross-Origin-Resource-Policy", "same-origin")
        self.set_header("Cache-Control", "no-store")

    def prepare(self) -> None:
        given = self.path_args[0] if self.path_args else ""
        if not hmac.compare_digest((given or "").encode(), self.token.encode()):
            raise tornado.web.HTTPError(404)
        if f"http://{self.request.host}" != self.origin:
            raise tornado.web.HTTPError(403)
        if self.request.headers.get("Origin", self.origin) != self.origin:
            raise tornado.web.HTTPError(403)

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """A short text; never the request, and never a traceback."""
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(f"{status_code}: use the address that `lab mark` printed.\n")


class _Nothing(_Guarded):
    def prepare(self) -> None:
        raise tornado.web.HTTPError(404)


class _File(_Guarded):
    def get(self, token: str, name: str) -> None:
        """The page and its parts."""
        if name not in _FILES:
            raise tornado.web.HTTPError(404)
        file, kind = _FILES[name]
        self.set_header("Content-Type", kind)
        self.finish((_STATIC / file).read_bytes())


class _Api(_Guarded):
    def get(self, token: str, verb: str) -> None:
        """What the page shows."""
        if verb != "state":
            raise tornado.web.HTTPError(405)
        self._answer(self.marking.reload, "Not loaded")

    def post(self, token: str, verb: str) -> None:
        """Save a mark or take back the last one."""
        kind = self.request.headers.get("Content-Type", "")
        if kind.partition(";")[0].strip() != "application/json":
            raise tornado.web.HTTPError(415)
        match verb:
            case "mark":
                self._answer(lambda: self.marking.save(self._request()), "Not saved")
            case "undo":
                self._answer(self.marking.undo, "Not undone")
            case _:
                raise tornado.web.HTTPError(405)

    def _request(self) -> Any:
        try:
            return json.loads(self.request.body)
        except (ValueError, RecursionError):
            raise BadMarkError("The page sent something unreadable; reload it.") from None

    def _answer(self, work: Callable[[], dict[str, Any]], failed: str) -> None:
        try:
            values, status = work(), 200
        except BadMarkError as error:
            values, status = {"error": str(error)}, 400
        except OutdatedError as error:
            values, status = {"error": str(error), "now": error.now}, 409
        except LabError as error:  # the gradebook is locked, or the disk is full
            values, status = {"error": f"{failed}: {error}."}, 503
        self.set_status(status)
        self.set_header("Content-Type", "application/json; charset=utf-8")
        self.finish(json.dumps(values))
