"""One submission's session with the sandbox: send, wait, give up at the deadline, try again.

A cell that ends or hangs its process costs only itself: the submission is run again without it.
After the first probe, nothing is run again. References of earlier exercises, on which later ones
build, are sent only after every probe that they could answer.

Tested in tests/gradekit/sandbox/test_session.py and tests/attacks/test_references_come_late.py.
"""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from attnlab.checking.lab import asked_names
from gradekit.sandbox import limit_messages
from gradekit.sandbox.connection import (
    Connection,
    ProcessEndedError,
    ProcessEndedForGoodError,
    probe_key,
)
from gradekit.sandbox.result import CellRun, SubmissionRun
from gradekit.untrusted.limits import Limits
from gradekit.untrusted.messages import Cell, Probe, Stopped

MAX_TRIES_AGAIN = 3
_DEFINED = re.compile(r"^(?:def|class) (\w+)", re.MULTILINE)


def check_file_names(names: Iterable[str]) -> None:
    """Do nothing if these names are right for data files of the working folder.

    Raises:
        ValueError: one is not a relative path inside the folder, or is a notebook's.
    """
    for name in names:
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or not path.parts or path.suffix == ".ipynb":
            raise ValueError(
                f"{name!r} cannot be a data file: it must be a relative path, and not a notebook"
            )


class Session:
    """One submission's session over the control channel of a running fork server."""

    def __init__(self, control: socket.socket, limits: Limits) -> None:
        self._control = control
        self._limits = limits
        self._deadline = time.monotonic() + limits.submission_seconds
        self._cpu = 0.0
        self._peak = 0
        self._notes: list[str] = []
        self._connections: list[Connection] = []

    def run(
        self,
        cells: Sequence[Cell],
        probes: Sequence[Sequence[Probe]],
        files: Mapping[str, bytes],
        seed: int,
        graded: Mapping[str, Mapping[str, str]],
    ) -> SubmissionRun:
        """Run cells and probes; see :meth:`gradekit.sandbox.sandbox.Sandbox.run`.

        Raises:
            ServerLostError: the fork server failed.
        """
        started = time.monotonic()
        try:
            runs, connection = self._run_cells(cells, files, seed, graded)
            observations: dict[tuple[str, str], bytes | Stopped]
            if isinstance(connection, str):
                asked = [probe_key(probe) for exercise in probes for probe in exercise]
                observations = dict.fromkeys(asked, Stopped(connection))
            else:
                observations = self._ask_all(connection, probes)
                self._close(connection)
        finally:
            for left in self._connections:
                left.abandon()
        done = tuple(runs.get(i, _not_run(cell)) for i, cell in enumerate(cells))
        seconds = time.monotonic() - started
        return SubmissionRun(done, observations, self._cpu, seconds, self._peak, tuple(self._notes))

    def _run_cells(
        self,
        cells: Sequence[Cell],
        files: Mapping[str, bytes],
        seed: int,
        graded: Mapping[str, Mapping[str, str]],
    ) -> tuple[dict[int, CellRun], Connection | str]:
        """Run the cells; if one ends the process, run the others again.

        Returns:
            the cells' runs by index, and the connection that waits for probes, or why there is
            none.
        """
        wanted = list(range(len(cells)))
        stopped: dict[int, CellRun] = {}
        for tries_left in range(MAX_TRIES_AGAIN, -2, -1):
            connection = Connection(self._control, self._limits, self._deadline)
            self._connections.append(connection)
            runs: dict[int, CellRun] = {}
            try:
                connection.send_submission(cells, wanted, files, seed, graded)
                for index in wanted:
                    runs[index] = connection.read_cell(index, cells[index].id)
                return {**runs, **stopped}, connection
            except ProcessEndedError as ended:
                self._close(connection)
                reason = connection.why(str(ended))
                culprit = next((index for index in wanted if index not in runs), None)
                if culprit is not None:
                    stopped[culprit] = CellRun(cells[culprit].id, (), "stopped", reason)
                if culprit is None or isinstance(ended, ProcessEndedForGoodError):
                    return {**runs, **stopped}, reason
                self._notes.append(f"cell {culprit + 1} {reason}")
                wanted.remove(culprit)
                if tries_left == 0:
                    wanted = [index for index in wanted if index < culprit]
        return {**runs, **stopped}, reason

    def _ask_all(
        self, connection: Connection, probes: Sequence[Sequence[Probe]]
    ) -> dict[tuple[str, str], bytes | Stopped]:
        seen: dict[tuple[str, str], bytes | Stopped] = {}
        over = ""
        for group in in_safe_order(probes):
            if not over:
                try:
                    seen.update(connection.ask(group))
                except ProcessEndedError as ended:
                    # This group's answers so far are dropped: they are of the same process.
                    self._close(connection)
                    over = connection.why(str(ended))
                    self._notes.append(f"probing {group[0].exercise}: {over}")
            for probe in group:
                seen.setdefault(probe_key(probe), Stopped(over))
        return seen

    def _close(self, connection: Connection) -> None:
        if connection.closed:
            return
        connection.close()
        self._cpu += connection.cpu
        self._peak = max(self._peak, connection.peak)


def in_safe_order(probes: Sequence[Sequence[Probe]]) -> list[list[Probe]]:
    """The probes in groups of one exercise and one set of references, those without any first.

    So a reference of exercise 1 that exercise 2 uses is sent after every probe of the student's own
    exercise 1, even a chained one of the last exercise. The same holds for a probe whose own text
    defines a name that some probe asks for, and for versions on which a student's test is tried,
    because some of them are right. And a test is tried before any reference of the tested step is
    sent, which would say which versions are right.
    """
    asked = {name for each in probes for probe in each for name in asked_names(probe.source)}
    groups: dict[tuple[bool, str, str, tuple[str, ...]], list[Probe]] = {}
    for exercise in probes:
        for probe in exercise:
            carries_answer = bool(probe.uses or probe.versions or _defines(probe.source, asked))
            key = (carries_answer, probe.exercise, probe.uses, probe.of)
            groups.setdefault(key, []).append(probe)
    ordered = [group for (carries_answer, *_), group in groups.items() if not carries_answer]
    ordered += [
        group for (carries_answer, *_, of), group in groups.items() if carries_answer and not of
    ]
    for (*_, of), group in groups.items():
        if of:
            positions = (
                position
                for position, others in enumerate(ordered)
                if any(_defines(probe.uses + "\n" + probe.source, of) for probe in others)
            )
            ordered.insert(next(positions, len(ordered)), group)
    return ordered


def _defines(text: str, names: Collection[str]) -> bool:
    """Whether some source defines one of these functions or classes."""
    return any(found in names for found in _DEFINED.findall(text))


def _not_run(cell: Cell) -> CellRun:
    return CellRun(cell.id, (), "stopped", limit_messages.NOT_RUN)
