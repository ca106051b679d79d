"""The trusted side of the sandbox: starts it, sends submissions in, receives what they computed.

    with Sandbox(Path("release/lab01")) as sandbox:
        run = sandbox.run(cells, probes, files={"data.csv": b"..."}, seed=7)

One sandbox serves one submission at a time and lives as long as its worker; the process or thread
that starts it must outlive it. This side checks the form of every message from the untrusted side.
The judge decides whether an answer is right.

Tested in tests/gradekit/sandbox/test_sandbox.py.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, assert_never

from gradekit.errors import SandboxUnavailableError
from gradekit.files import LockedTempFolder
from gradekit.sandbox import bubblewrap, landlock_policy
from gradekit.sandbox.connection import ServerLostError
from gradekit.sandbox.levels import Level, check_level, level_named
from gradekit.sandbox.result import SubmissionRun
from gradekit.sandbox.session import Session, check_file_names
from gradekit.untrusted.landlock_isolation import LandlockPolicy
from gradekit.untrusted.limits import Limits
from gradekit.untrusted.messages import Cell, Probe
from gradekit.untrusted.settings import ServerSettings

_START_SECONDS = 300.0  # one or two are enough; under a load of 13, more than 60 were seen
_STOP_SECONDS = 5.0


class SandboxFailedError(RuntimeError):
    """The sandbox failed, not the submission, so no student may lose points for it."""


class Sandbox:
    """A fork server inside its outer isolation, ready to run submissions.

    Args:
        student_library: a folder that holds the student edition of the package attnlab.
        limits: of one submission.
        level: bubblewrap; landlock, if bubblewrap is unavailable; or none, which confines nothing
            and is only for code that you trust.
        private: folders that must not be visible inside, even if they are in the Python
            environment or in the system's folders.
        trains: whether submissions train models; the imports for that are then made beforehand.

    Raises:
        ValueError: there is no such level.
    """

    def __init__(
        self,
        student_library: Path,
        limits: Limits | None = None,
        level: str = "bubblewrap",
        private: Iterable[Path] = (),
        trains: bool = False,
    ) -> None:
        self.limits = limits or Limits()
        self.level = level_named(level)
        self._student_library = student_library
        self._private = tuple(private)
        self._trains = trains
        self._server: _Server | None = None

    def __enter__(self) -> Sandbox:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def start(self) -> None:
        """Start the fork server, if it is not running, and wait until it is ready.

        Raises:
            SandboxUnavailableError: this machine cannot confine student code at this level.
        """
        if self._server is None:
            self._server = _Server(
                self._student_library, self.limits, self.level, self._private, self._trains
            )

    def close(self) -> None:
        """End the fork server and all processes below it."""
        if self._server is not None:
            self._server.close()
            self._server = None

    def run(
        self,
        cells: Sequence[Cell],
        probes: Sequence[Sequence[Probe]],
        files: Mapping[str, bytes] | None = None,
        seed: int = 0,
        graded: Mapping[str, Mapping[str, str]] | None = None,
    ) -> SubmissionRun:
        """Run a notebook's cells, then the probes of each exercise on their definitions.

        Args:
            cells: the code cells, in order.
            probes: for each exercise, in order, its probes.
            files: data files of the working folder, by their relative path.
            seed: of the submission's random number generators.
            graded: by exercise, the names that it asks for and the kind of each (see
                :mod:`attnlab.checking.definitions`).

        Raises:
            SandboxFailedError: the sandbox itself failed, twice.
            SandboxUnavailableError: the sandbox could not be started again.
            ValueError: a data file is outside the working folder, or is a notebook.
        """
        check_file_names(files or {})
        for again in (True, False):
            self.start()
            assert self._server is not None
            try:
                session = Session(self._server.control, self.limits)
                return session.run(cells, probes, dict(files or {}), seed, graded or {})
            except ServerLostError as error:
                last = self._server.last_error()
                self.close()
                if not again:
                    raise SandboxFailedError(f"the fork server ended ({error}): {last}") from error
            except BaseException:
                self.close()  # the control channel may hold half of a message
                raise
        raise AssertionError("unreachable")


class _Server:
    """The running fork server."""

    def __init__(
        self,
        student_library: Path,
        limits: Limits,
        level: Level,
        private: Iterable[Path],
        trains: bool,
    ) -> None:
        self._temp_folder = LockedTempFolder()
        self._folder = self._temp_folder.path
        self._scratch = self._folder / "scratch"
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._process: subprocess.Popen[bytes] | None = None
        try:
            with theirs:
                assembled = self._assemble(student_library, level)
                policy = self._policy(level, assembled, private)
                settings = ServerSettings(level, limits, trains, policy)
                self._process = self._start(settings, assembled, private, theirs.fileno())
            self._wait_until_ready(level)
        except BaseException:
            self.close()
            raise

    def _assemble(self, student_library: Path, level: Level) -> Path:
        """The folder with the untrusted side's code."""
        check_level(level)
        assembled = self._folder / "lab"
        self._scratch.mkdir()
        bubblewrap.assemble(student_library, assembled)
        return assembled

    def _policy(
        self, level: Level, assembled: Path, private: Iterable[Path]
    ) -> LandlockPolicy | None:
        match level:
            case "landlock":
                self._folder.chmod(0o711)  # another user than root must get through it
                return landlock_policy.policy_for(assembled, self._scratch, private)
            case "bubblewrap" | "none":
                return None
            case unknown:
                assert_never(unknown)

    def _start(
        self, settings: ServerSettings, assembled: Path, private: Iterable[Path], channel: int
    ) -> subprocess.Popen[bytes]:
        prefix: list[str] = []
        variables = bubblewrap.environment(assembled, str(self._scratch))
        match settings.level:
            case "bubblewrap":
                prefix = [*bubblewrap.command(bubblewrap.find(), assembled, private), "--"]
                variables = {}  # bubblewrap sets them
            case "landlock" | "none":
                pass
            case unknown:
                assert_never(unknown)
        python = [sys.executable, "-s", "-P", "-B", "-m", "gradekit.untrusted.forkserver"]
        line = [*prefix, *python, str(channel), settings.to_json()]
        return subprocess.Popen(  # noqa: S603 - our own line, no shell
            line,
            pass_fds=[channel],
            env=variables,
            cwd="/",
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
        )

    def _wait_until_ready(self, level: Level) -> None:
        self.control.settimeout(_START_SECONDS)
        try:
            packet = self.control.recv(4096)
        except TimeoutError:
            packet = b""
        self.control.settimeout(None)
        if not packet:
            raise SandboxUnavailableError(
                f"student code cannot be run: the sandbox ({level}) did not start "
                f"({self.last_error()}); `lab doctor` says what this machine allows"
            )

    def last_error(self) -> str:
        """The last line that the server, or bubblewrap, wrote to its standard error."""
        self._errors.seek(0)
        lines = self._errors.read()[-4000:].decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else "it wrote no error"

    def close(self) -> None:
        """End it and all processes below it, and remove its files."""
        self.control.close()
        if self._process is not None:
            try:
                self._process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._errors.close()
        self._temp_folder.close()
