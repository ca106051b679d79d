"""The states of a lab's hand-ins, read from its journal without opening it.

``lab status`` looks at every lab of the course, and must not wait while one of them is graded.
Tested in tests/gradekit/results/test_states.py.
"""

from __future__ import annotations

import json
from pathlib import Path

from gradekit.results.records import State

# As :class:`gradekit.results.journal.Journal` begins its lines; the other kinds are not parsed.
_SUBMISSION, _WITHDRAWN = b'{"kind": "submission",', b'{"kind": "withdrawn",'


def states_in(path: Path) -> dict[str, State]:
    """The state of everyone's latest graded hand-in, by student; empty without a journal.

    Damaged lines are left out, as the journal does; `lab grade` tells them.
    """
    found: dict[str, State] = {}
    try:
        with path.open("rb") as file:
            for line in file:
                if line.startswith((_SUBMISSION, _WITHDRAWN)):
                    _apply(line, found)
    except FileNotFoundError:
        return {}
    return found


def _apply(line: bytes, found: dict[str, State]) -> None:
    try:
        values = json.loads(line)
        student = values["student"]
        if line.startswith(_SUBMISSION):
            found[student] = State(values["state"])
        else:
            found.pop(student, None)
    except (ValueError, KeyError, TypeError, RecursionError):
        return
