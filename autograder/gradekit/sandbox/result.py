"""The result of running one submission: values that the rest of the trusted side reads.

Tested in tests/gradekit/sandbox/test_sandbox.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from gradekit.untrusted.messages import Stopped

CellState = Literal["ok", "error", "stopped"]


@dataclass(frozen=True)
class ChangedName:
    """A cell changed a name that an exercise defines or uses; it was graded as it was before.

    Attributes:
        cell: the cell's index among those that were given.
    """

    exercise: str
    name: str
    cell: int


@dataclass(frozen=True)
class CellRun:
    """One cell's run.

    Attributes:
        id: the cell's id, as given.
        outputs: in nbformat's form, checked: plain JSON, no active content.
        state: ok, error (it raised), stopped (it was ended, or was not run).
        reason: the limit that it exceeded, or why it was stopped, for the student; often empty.
        changes: with the last cell, what any cell changed of names that steps use.
    """

    id: str
    outputs: tuple[dict[str, Any], ...]
    state: CellState
    reason: str = ""
    changes: tuple[ChangedName, ...] = ()


@dataclass(frozen=True)
class SubmissionRun:
    """One submission's run.

    Attributes:
        cells: in the order given.
        observations: by (exercise, check): bytes for ``attnlab.checking.observation.unpack``,
            which must be treated as hostile, or Stopped. Every probe has an entry.
        cpu_seconds: CPU time of all its processes, second tries included.
        wall_seconds: from start to end.
        peak_bytes: the largest memory use that was measured; 0 if it was never near the limit.
        notes: other events, for staff.
    """

    cells: tuple[CellRun, ...]
    observations: Mapping[tuple[str, str], bytes | Stopped]
    cpu_seconds: float
    wall_seconds: float
    peak_bytes: int = 0
    notes: tuple[str, ...] = ()
