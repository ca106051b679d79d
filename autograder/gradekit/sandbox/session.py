"""The trusted side's talk with one submission: send, wait, give up in time, try again.

A cell that ends or hangs its process costs only itself: the submission is run again without it.
Once probes have been sent nothing is run again. References of earlier exercises, which later ones
stand on, are sent only when all that could be answered with them has been answered.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from gradekit.sandbox import limit_messages
from gradekit.sandbox.connection import Attempt, Ended, EndedForGood, probe_key
from gradekit.sandbox.result import CellRun, SubmissionRun
from gradekit.untrusted.limits import Limits
from gradekit.untrusted.messages import Cell, Probe, Stopped

MAX_TRIES_AGAIN = 3


def check_names(names: Iterable[str]) -> None:
    """Let pass the names of data files for the working folder.

    Raises:
        ValueError: one is not a relative path within the folder, or is a notebook's.
    """
    for name in names:
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or not path.parts or path.suffix == ".ipynb":
            raise ValueError(
                f"{name!r} cannot be a data file: it must be a relative path and no notebook"
            )


class Talk:
    """One submission's talk over the control channel of a running fork server."""

    def __init__(self, control: socket.socket, limits: Limits) -> None:
        self._control = control
        self._limits = limits
        self._deadline = time.monotonic() + limits.submission_seconds
        self._cpu = 0.0
        self._peak = 0
        self._notes: list[str] = []
        self._attempts: list[Attempt] = []

    def run(
        self,
        cells: Sequence[Cell],
        probes: Sequence[Sequence[Probe]],
        files: Mapping[str, bytes],
        seed: int,
    ) -> SubmissionRun:
        """Run cells and probes; see :meth:`gradekit.sandbox.sandbox.Sandbox.run`.

        Raises:
            ServerGone: the fork server failed.
        """
        started = time.monotonic()
        try:
            runs, attempt = self._run_cells(cells, files, seed)
            observations: dict[tuple[str, str], bytes | Stopped]
            if isinstance(attempt, str):
                asked = [probe_key(probe) for exercise in probes for probe in exercise]
                observations = dict.fromkeys(asked, Stopped(attempt))
            else:
                observations = self._ask_all(attempt, probes)
                self._close(attempt)
        finally:
            for left in self._attempts:
                left.abandon()
        done = tuple(runs.get(i, _not_run(cell)) for i, cell in enumerate(cells))
        seconds = time.monotonic() - started
        return SubmissionRun(
            done, observations, self._cpu, seconds, self._peak, tuple(self._notes)
        )

    def _run_cells(
        self, cells: Sequence[Cell], files: Mapping[str, bytes], seed: int
    ) -> tuple[dict[int, CellRun], Attempt | str]:
        """Run the cells, again without a culprit where one ends the process.

        Returns:
            the cells' runs by index, and the attempt that waits for probes, or why there is none.
        """
        wanted = list(range(len(cells)))
        stopped: dict[int, CellRun] = {}
        for tries_left in range(MAX_TRIES_AGAIN, -2, -1):
            attempt = Attempt(self._control, self._limits, self._deadline)
            self._attempts.append(attempt)
            runs: dict[int, CellRun] = {}
            try:
                attempt.send_submission(cells, wanted, files, seed)
                for index in wanted:
                    runs[index] = attempt.read_cell(index, cells[index].id)
                return {**runs, **stopped}, attempt
            except Ended as ended:
                self._close(attempt)
                reason = attempt.why(str(ended))
                culprit = next((index for index in wanted if index not in runs), None)
                if culprit is not None:
                    stopped[culprit] = CellRun(cells[culprit].id, (), "stopped", reason)
                if culprit is None or isinstance(ended, EndedForGood):
                    return {**runs, **stopped}, reason
                self._notes.append(f"cell {culprit + 1} {reason}")
                wanted.remove(culprit)
                if tries_left == 0:
                    wanted = [index for index in wanted if index < culprit]
        return {**runs, **stopped}, reason

    def _ask_all(
        self, attempt: Attempt, probes: Sequence[Sequence[Probe]]
    ) -> dict[tuple[str, str], bytes | Stopped]:
        seen: dict[tuple[str, str], bytes | Stopped] = {}
        over = ""
        for group in in_safe_order(probes):
            if not over:
                try:
                    seen.update(attempt.ask(group))
                except Ended as ended:
                    # What it had answered of this group goes with it: it is the same process.
                    self._close(attempt)
                    over = attempt.why(str(ended))
                    self._notes.append(f"probing {group[0].exercise}: {over}")
            for probe in group:
                seen.setdefault(probe_key(probe), Stopped(over))
        return seen

    def _close(self, attempt: Attempt) -> None:
        if attempt.closed:
            return
        attempt.close()
        self._cpu += attempt.cpu
        self._peak = max(self._peak, attempt.peak)


def in_safe_order(probes: Sequence[Sequence[Probe]]) -> list[list[Probe]]:
    """The probes in groups of one exercise and one set of references, those without any first.

    So the reference of exercise 1 that exercise 2 uses travels after every probe that asks for
    the student's own exercise 1, be it a chained one of the last exercise.
    """
    groups: dict[tuple[bool, str, str], list[Probe]] = {}
    for exercise in probes:
        for probe in exercise:
            groups.setdefault((bool(probe.uses), probe.exercise, probe.uses), []).append(probe)
    return sorted(groups.values(), key=lambda group: bool(group[0].uses))


def _not_run(cell: Cell) -> CellRun:
    return CellRun(cell.id, (), "stopped", limit_messages.NOT_RUN)
