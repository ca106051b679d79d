"""The messages that enter the sandbox: cells to run, and probes to run on what they defined.

Nothing here reveals a right answer. Both sides import this file; it imports only limits.py.
Tested in tests/gradekit/untrusted/test_messages.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gradekit.untrusted.limits import ExerciseLimits

ANONYMOUS = "version"


@dataclass(frozen=True)
class Cell:
    """A code cell of a notebook.

    Attributes:
        checks: the exercises that are checked after this cell and before the next one.
    """

    id: str
    source: str
    checks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Probe:
    """What one check asks of the lab's code.

    Attributes:
        exercise: the exercise's name.
        check: the check's name, and the function ``(lab, draw)`` that `source` defines.
        source: the probe's text.
        seed: of its random inputs.
        forbids: torch functions, by full name; calling one of them ends the probe.
        uses: text that defines functions of earlier exercises, to replace the student's.
        replaces: the names that `uses` replaces, for this exercise only.
        tested: the names that it replaces for the probe alone; the student's code keeps its own.
        versions: texts that each define a function called ``version``, for a test that
            the student wrote (see :func:`gradekit.exercise.standalone.anonymous_version`).
        of: the names of the step that they are versions of.
        limits: of the exercise, if it has its own; they are sent once for each group of probes.
    """

    exercise: str
    check: str
    source: str
    seed: int
    forbids: tuple[str, ...] = ()
    uses: str = ""
    replaces: tuple[str, ...] = ()
    tested: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    of: tuple[str, ...] = ()
    limits: ExerciseLimits | None = None

    def to_json(self) -> dict[str, Any]:
        """The probe as plain JSON values."""
        return {name: value for name, value in vars(self).items() if name != "limits"}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Probe:
        """The probe that :meth:`to_json` wrote."""
        lists = ("forbids", "replaces", "tested", "versions", "of")
        return cls(**{**values, **{name: tuple(values[name]) for name in lists}})


@dataclass(frozen=True)
class Stopped:
    """A check without an answer, and why: a sentence for the student."""

    reason: str
