"""The results of grading one submission, as values for the journal and the gradebook.

The judge makes an :class:`ExerciseResult` for each exercise, the sandbox makes outputs for each
cell; both together are a :class:`Graded`. The journal keeps one :class:`Record` for each exercise
and one :class:`SubmissionRecord` for each submission. Outputs go into the autograded notebook.

Tested in tests/gradekit/results/test_records.py.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from typing import Any, assert_never

# By the annotation of a field.
_TYPES: dict[Any, tuple[type, ...]] = {
    "str": (str,), "str | None": (str, type(None)), "bool": (bool,), "float": (float, int),
}  # fmt: skip


class State(StrEnum):
    """The outcome of a submission, in the words of the reports.

    THEIRS: it cannot be graded, and the student must fix it; OURS: the grader failed.
    LATE is only shown (feedback/shown_state.py) and never recorded.
    """

    GRADED = "graded"
    LATE = "late"
    THEIRS = "broken: theirs"
    OURS = "broken: ours"


@dataclass(frozen=True)
class CheckResult:
    """The outcome of one check. It never holds an input or a number of a hidden check."""

    name: str
    title: str
    hidden: bool
    earned: float
    points: float
    passed: bool


@dataclass(frozen=True)
class ExerciseResult:
    """The judge's result for one exercise of one submission.

    Attributes:
        checks: in the order of the exercise file.
        advice: sentences for the student, best first.
        mistakes: names of the known mistakes that were recognised.
        seconds: CPU seconds that the exercise's probes took.
        broken: if the grader failed, what failed, in one sentence; then there are no points.
        sandbox: the level of isolation that the code ran at; empty in records of earlier versions.
        names: what the student defines in this step.
        uses: names of earlier steps, if correct versions took their place for this one.
    """

    exercise: str
    title: str
    checks: tuple[CheckResult, ...]
    advice: tuple[str, ...] = ()
    mistakes: tuple[str, ...] = ()
    seconds: float = 0.0
    broken: str | None = None
    sandbox: str = ""
    names: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()

    @property
    def earned(self) -> float | None:
        """Points earned, rounded to a hundredth; None, and never 0, if the grader failed."""
        if self.broken is not None:
            return None
        return round(sum(check.earned for check in self.checks), 2)

    @property
    def points(self) -> float:
        """Points available."""
        return round(sum(check.points for check in self.checks), 2)

    @property
    def not_graded(self) -> str:
        """If the grader failed, what a person reads in place of the points; else empty."""
        if self.broken is None:
            return ""
        return f"Not graded: {self.broken} This is our fault; no student loses points."


@dataclass(frozen=True)
class Graded:
    """One submission after the sandbox and the judge.

    Attributes:
        outputs: nbformat outputs by the id of the cell (of ``Submission.notebook``).
        results: one for each exercise that was run.
        seconds: CPU seconds of the whole submission.
        stopped: the limits that ended the notebook's run early, in words for the student.
        notes: what grading decided for the student, one sentence each.
        broken: if the grader failed as a whole, what failed, in one sentence.
    """

    outputs: Mapping[str, Sequence[Mapping[str, Any]]]
    results: tuple[ExerciseResult, ...]
    seconds: float = 0.0
    stopped: str | None = None
    notes: tuple[str, ...] = ()
    broken: str | None = None


@dataclass(frozen=True)
class Record:
    """One exercise of one submission, as the journal keeps it."""

    student: str
    lab: str
    digest: str
    key: str
    result: ExerciseResult

    @property
    def exercise(self) -> str:
        """The exercise's name."""
        return self.result.exercise

    def to_json(self) -> dict[str, Any]:
        """The record as plain values."""
        result = {**vars(self.result), "checks": [dict(vars(c)) for c in self.result.checks]}
        own = {"student": self.student, "lab": self.lab, "digest": self.digest, "key": self.key}
        return {**own, "earned": self.result.earned, "points": self.result.points, **result}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Record:
        """The record that :meth:`to_json` wrote; KeyError, TypeError or ValueError otherwise."""
        checks = tuple(CheckResult(**_known(CheckResult, check)) for check in values["checks"])
        lists = {name: tuple(values[name]) for name in ("advice", "mistakes")}
        lists |= {name: tuple(values.get(name, ())) for name in ("names", "uses")}
        result = ExerciseResult(**{**_known(ExerciseResult, values), "checks": checks, **lists})
        return cls(**_known(cls, {**values, "result": result}))


@dataclass(frozen=True)
class SubmissionRecord:
    """One submission as the journal keeps it. Readers compute its lateness from the dates.

    Attributes:
        digest: of the submitted bytes.
        state: graded, or broken by the student or by the grader.
        reason: why it is broken, in one sentence for student and TA.
        notes: oddities of the submission, for both.
        answers: for each free-text cell, a digest of the text; empty if there is none.
        submitted_at: ISO 8601 with an offset, or None if unknown.
        blank: exercises whose own cell is unchanged; they were left out, unless they earn points
            because the student wrote them elsewhere. Empty in records of earlier versions.
    """

    student: str
    lab: str
    digest: str
    state: State
    reason: str = ""
    notes: tuple[str, ...] = ()
    answers: Mapping[str, str] = field(default_factory=dict)
    submitted_at: str | None = None
    seconds: float = 0.0
    blank: tuple[str, ...] = ()

    @property
    def moment(self) -> datetime | None:
        """When it was handed in."""
        return datetime.fromisoformat(self.submitted_at) if self.submitted_at else None

    def to_json(self) -> dict[str, Any]:
        """The record as plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> SubmissionRecord:
        """The record that :meth:`to_json` wrote. Raises like :meth:`Record.from_json`."""
        known = _known(cls, values)
        lists = {name: tuple(known.get(name, ())) for name in ("notes", "blank")}
        return cls(**{**known, **lists, "state": State(known["state"])})


def points_that_count(state: State, scores: Mapping[str, float | None]) -> dict[str, float | None]:
    """The points by exercise that count: 0 if the student broke it, None if the grader failed."""
    match state:
        case State.THEIRS:
            return dict.fromkeys(scores, 0.0)
        case State.OURS:
            return dict.fromkeys(scores)
        case State.GRADED | State.LATE:
            return dict(scores)
        case unknown:
            assert_never(unknown)


def make_key(*parts: str) -> str:
    """One key from everything on which a result depends.

    The grader passes student, lab, the submission's digest, the exercise's name, and the digests of
    the exercise file, of the reference and of the environment.
    """
    return digest_of(*(part.encode("utf-8", "surrogatepass") for part in parts))


def digest_of(*parts: bytes) -> str:
    """SHA-256 of byte strings and of their lengths."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8, "big"))
        whole.update(part)
    return whole.hexdigest()


def _known(kind: type[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    known = {name: values[name] for name in kind.__dataclass_fields__ if name in values}
    for name, types in _TYPED_FIELDS[kind]:
        value = known.get(name)
        if name in known and type(value) not in types:
            raise TypeError(f"{name} is of type {type(value).__name__}")
        if type(value) is float and not math.isfinite(value):
            raise ValueError(f"{name} is not finite")
    return known


# The fields of plain types, and the types that they have in JSON.
_TYPED_FIELDS = {
    kind: tuple((one.name, _TYPES[one.type]) for one in fields(kind) if one.type in _TYPES)
    for kind in (CheckResult, ExerciseResult, Record, SubmissionRecord)
}
