"""The trusted side of the sandbox: starts it, sends submissions in, takes what they saw.

    with Sandbox(edition=Path("release/lab01/edition")) as sandbox:
        run = sandbox.run(cells, probes, files={"data.csv": b"..."}, seed=7)

One sandbox serves one submission at a time and lives as long as its worker; the process or thread
that starts it must outlive it. Whatever the untrusted side says is checked for its form here;
whether it is right is for the judge.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Literal, get_args

from gradekit.errors import SandboxUnavailableError
from gradekit.files import LockedTempFolder
from gradekit.sandbox import bubblewrap, landlock_policy
from gradekit.sandbox.connection import ServerLostError
from gradekit.sandbox.result import SubmissionRun
from gradekit.sandbox.session import Session, check_file_names
from gradekit.untrusted import landlock, seccomp
from gradekit.untrusted.limits import GIB, Limits
from gradekit.untrusted.messages import Cell, Probe

__all__ = [
    "Level",
    "Sandbox",
    "SandboxFailedError",
    "SandboxUnavailableError",
    "check_level",
    "describe",
]

Level = Literal["bubblewrap", "landlock", "none"]
_START_SECONDS = 60.0
_STOP_SECONDS = 5.0


class SandboxFailedError(RuntimeError):
    """The sandbox failed, not the submission: no student may lose points by it."""


def describe(level: Level = "bubblewrap", limits: Limits | None = None) -> str:
    """What confines student code, in one line for people.

    Raises:
        SandboxUnavailableError: this machine cannot confine code as asked.
    """
    if level == "none":
        return "sandbox: none; student code can read and write what you can"
    if level == "landlock":
        landlock_policy.check()
        walls = (
            f"Landlock (ABI {landlock.abi()}) and a strict system call filter, without network or "
            "your files' contents, not without their names, sizes and dates"
        )
    else:
        program = bubblewrap.find()
        bubblewrap.try_out(program)
        calls = " and a system call filter" if seccomp.available() else ""
        walls = (
            f"{bubblewrap.version(program)} without network or your files; each submission in its "
            f"own namespaces{calls}"
        )
    limits = limits or Limits()
    return (
        f"sandbox: {walls}, {limits.memory_bytes / GIB:g} GiB, {limits.processes} processes, "
        f"{limits.submission_seconds:g} s"
    )


def check_level(level: str) -> None:
    """Let pass a level that this machine has, as far as that is known without trying it.

    Raises:
        SandboxUnavailableError: bubblewrap is not installed, or Landlock lacks a part.
    """
    if level == "bubblewrap":
        bubblewrap.find()
    elif level == "landlock":
        landlock_policy.check()


class Sandbox:
    """A fork server behind two walls, ready to run submissions.

    Args:
        edition: a folder that holds the student edition of the package attnlab.
        limits: what one submission may use.
        level: what confines student code; "landlock" where bubblewrap cannot be had; "none"
            confines nothing and is for trying things out.
        private: folders that must not be seen inside even if they lie within the Python
            environment or the system's folders.
        trains: whether hand-ins train models; what that needs is then imported beforehand.
    """

    def __init__(
        self,
        student_library: Path,
        limits: Limits | None = None,
        level: Level = "bubblewrap",
        private: Iterable[Path] = (),
        trains: bool = False,
    ) -> None:
        if level not in get_args(Level):
            known = ", ".join(get_args(Level))
            raise ValueError(f"there is no sandbox {level!r}; it can be {known}")
        self.limits = limits or Limits()
        self.level = level
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
            SandboxUnavailableError: this machine cannot confine code as asked.
        """
        if self._server is None:
            self._server = _Server(
                self._student_library, self.limits, self.level, self._private, self._trains
            )

    def close(self) -> None:
        """End the fork server and all that runs below it."""
        if self._server is not None:
            self._server.close()
            self._server = None

    def describe(self) -> str:
        """What confines student code, in one line for people; see :func:`describe`."""
        return describe(self.level, self.limits)

    def run(
        self,
        cells: Sequence[Cell],
        probes: Sequence[Sequence[Probe]],
        files: Mapping[str, bytes] | None = None,
        seed: int = 0,
    ) -> SubmissionRun:
        """Run a notebook's cells, then the probes of each exercise on what they defined.

        Args:
            cells: the code cells, in order.
            probes: for each exercise, in order, its probes.
            files: data files of the working folder, by their relative path.
            seed: starts the random number generators of the submission.

        Raises:
            SandboxFailedError: the sandbox itself failed, twice.
            SandboxUnavailableError: the sandbox could not be started again.
            ValueError: a data file lies outside the working folder, or is a notebook.
        """
        check_file_names(files or {})
        for again in (True, False):
            self.start()
            assert self._server is not None
            try:
                session = Session(self._server.control, self.limits)
                return session.run(cells, probes, dict(files or {}), seed)
            except ServerLostError as error:
                said = self._server.last_words()
                self.close()
                if not again:
                    raise SandboxFailedError(f"the fork server ended ({error}): {said}") from error
            except BaseException:
                self.close()  # the control channel may hold half a talk
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
        self._held = LockedTempFolder()
        self._folder = self._held.path
        self._scratch = self._folder / "scratch"
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._process: subprocess.Popen[bytes] | None = None
        try:
            with theirs:
                settings = {"level": level, "limits": asdict(limits), "trains": trains}
                self._process = self._start(student_library, settings, private, theirs.fileno())
            self._wait_until_ready(level)
        except BaseException:
            self.close()
            raise

    def _start(
        self, student_library: Path, settings: dict[str, Any], private: Iterable[Path], channel: int
    ) -> subprocess.Popen[bytes]:
        level = settings["level"]
        check_level(level)
        assembled = self._folder / "lab"
        self._scratch.mkdir()
        bubblewrap.assemble(student_library, assembled)
        variables, walls = bubblewrap.environment(assembled, str(self._scratch)), []
        if level == "landlock":
            self._folder.chmod(0o711)  # for another user than root to get through
            made = landlock_policy.policy_for(assembled, self._scratch, private)
            settings = {**settings, "grants": asdict(made)}
        elif level == "bubblewrap":
            variables = {}
            walls = [*bubblewrap.command(bubblewrap.find(), assembled, private), "--"]
        python = [sys.executable, "-s", "-P", "-B", "-m", "gradekit.untrusted.forkserver"]
        line = [*walls, *python, str(channel), json.dumps(settings)]
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
                f"({self.last_words()}); `lab doctor` says what this machine allows"
            )

    def last_words(self) -> str:
        """The last line that the server, or bubblewrap, wrote to its errors."""
        self._errors.seek(0)
        lines = self._errors.read()[-4000:].decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"

    def close(self) -> None:
        """End it and all below it, and remove its files."""
        self.control.close()
        if self._process is not None:
            try:
                self._process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._errors.close()
        self._held.close()
