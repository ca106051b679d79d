"""A PostgreSQL server on a socket in a temporary folder, without a network."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.needs import postgresql_programs, require


def programs() -> Path:
    """The server's programs; without them, the test is skipped."""
    require("postgresql")
    found = postgresql_programs()
    assert found is not None
    return found


class Server:
    """A server that only this test can reach, run by a user who is not root."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._bin = programs()
        self._count = 0
        self._user: dict[str, int] = {}
        if os.geteuid() == 0:  # which the server refuses to be
            nobody = pwd.getpwnam("nobody")
            self._user = {"user": nobody.pw_uid, "group": nobody.pw_gid}
            os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        # What a crash would lose is of no value here, and waiting for the disk takes long.
        self._run(
            "initdb",
            "-D",
            "data",
            "-U",
            "staff",
            "-A",
            "trust",
            "-N",
            "-E",
            "UTF8",
            "--locale",
            "C",
        )
        self.start()

    def start(self) -> None:
        options = f"-c listen_addresses='' -c unix_socket_directories={self.folder} -c fsync=off"
        self._run("pg_ctl", "-D", "data", "-w", "-l", "log", "-o", options, "start")

    def stop(self) -> None:
        self._run("pg_ctl", "-D", "data", "-m", "immediate", "stop")

    def new_database(self, like: str = "template0") -> str:
        """The URL of a new database, empty or like another one."""
        self._count += 1
        name = f"grades{self._count}"
        self._run("createdb", "-h", str(self.folder), "-U", "staff", "-T", like, name)
        return f"postgresql+psycopg://staff:secret@/{name}?host={self.folder}"

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [self._bin / program, *arguments],
            cwd=self.folder,
            check=False,
            text=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE if program == "initdb" else None,
            env={**os.environ, "LC_ALL": "C"},
            **self._user,  # type: ignore[call-overload]
        )
        assert done.returncode == 0, (program, done.stderr)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    require("postgresql")
    # Not pytest's folder: a socket's path has at most 107 characters, and root's are closed.
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    running = None
    try:
        running = Server(folder)
        yield running
    finally:
        if running is not None:
            running.stop()
        shutil.rmtree(folder)
