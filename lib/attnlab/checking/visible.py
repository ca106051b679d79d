"""The file that ships with a notebook: its visible checks and the numbers that they expect.

It contains no reference code, and of hidden checks only the titles. Probes are Python text, and
expected values are observations. The file is one :func:`~attnlab.checking.observation.pack` of a
plain tree, so reading it runs no code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from attnlab.checking.errors import LabError
from attnlab.checking.judge_json import judge_from_json, judge_to_json
from attnlab.checking.observation import PackLimits, pack, unpack
from attnlab.checking.verdict import KnownMistake, PreparedCheck

FILE_NAME = "checks.safetensors"
VERSION = 6
# A lab's checks contain every known mistake's observation: more values than one probe may return.
LIMITS = PackLimits(size=128 * 2**20, header=32 * 2**20, nodes=1_000_000, depth=24, text=200_000)


class ChecksFileError(LabError):
    """A file is not a checks file of this version. The message says which file and what to do."""


@dataclass(frozen=True)
class VisibleCheck:
    """One check that students may see and run.

    Attributes:
        prepared: its points, judge and expectation; never hidden.
        source: Python text that defines a probe ``(lab, draw)`` named as the check.
        seed: makes the probe's inputs.
        versions: if the student writes a test, a text for each version on which it is tried, in
            the order that the check's judge knows.
        version_names: the name that each of those texts defines.
    """

    prepared: PreparedCheck
    source: str
    seed: int
    versions: tuple[str, ...] = ()
    version_names: tuple[str, ...] = ()

    def probe(self) -> Callable[..., Any]:
        """The probe, made from its text."""
        return define(self.source, self.prepared.name)

    def version_functions(self) -> list[Callable[..., Any]]:
        """The versions that a student's test is tried on, made from their texts."""
        return [
            define(text, name) for text, name in zip(self.versions, self.version_names, strict=True)
        ]


@dataclass(frozen=True)
class NotRunHere:
    """What a student is told about a hidden check: its title, never its inputs or its numbers.

    Attributes:
        chained: whether it runs on the student's own earlier steps instead of correct ones.
    """

    title: str
    chained: bool = False


@dataclass(frozen=True)
class Step:
    """Where an exercise is in its notebook, and how long it takes.

    Attributes:
        number: such as "3.2"; empty if the heading has none.
        title: the heading without its number.
        minutes: how long it takes; 0 if the notebook does not say.
    """

    number: str = ""
    title: str = ""
    minutes: int = 0


@dataclass(frozen=True)
class VisibleExercise:
    """The visible side of one exercise.

    Attributes:
        name: what ``check(name)`` is called with.
        title: one line for the report.
        points: of the whole exercise, including hidden checks; 0 if it is not graded.
        hidden_points: the part of them that hidden checks decide.
        checks: the visible ones, in order.
        mistakes: the known mistakes, in order.
        forbids: full names of the torch functions that the student must not call here.
        not_run_here: the hidden checks, in order.
        names: what the student defines.
        uses: what earlier exercises define and this one runs on; grading puts correct versions
            in their place.
        step: its place in the notebook.
        kinds: the kind of each of `names`, such as "function" or "dict".
    """

    name: str
    title: str
    points: float
    hidden_points: float
    checks: tuple[VisibleCheck, ...]
    mistakes: tuple[KnownMistake, ...] = ()
    forbids: tuple[str, ...] = ()
    not_run_here: tuple[NotRunHere, ...] = ()
    names: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    step: Step = Step()
    kinds: tuple[str, ...] = ()

    @property
    def visible_points(self) -> float:
        """The points that the visible checks decide."""
        return round(sum(check.prepared.points for check in self.checks), 2)

    @property
    def is_a_test(self) -> bool:
        """Whether the student writes a test here, which runs on what it tests."""
        return all(name.startswith("test_") for name in self.names)


@dataclass(frozen=True)
class VisibleLab:
    """The content of a checks file: a lab's id and its exercises, in order."""

    lab: str
    exercises: tuple[VisibleExercise, ...]

    @property
    def graded(self) -> dict[str, dict[str, str]]:
        """By exercise, the names that students define and the kind of each."""
        return {e.name: dict(zip(e.names, e.kinds, strict=False)) for e in self.exercises}

    def exercise(self, name: str) -> VisibleExercise | None:
        """The exercise of that name, or None."""
        return next((e for e in self.exercises if e.name == name), None)


def write(path: Path, lab: str, exercises: Iterable[VisibleExercise]) -> None:
    """Write a checks file; equal input gives equal bytes.

    Raises:
        ValueError: a check is hidden, so it must not be shipped.
    """
    tree = {"version": VERSION, "lab": lab, "exercises": [_exercise_tree(e) for e in exercises]}
    path.write_bytes(pack(tree, LIMITS))


def read(path: Path) -> VisibleLab:
    """The content of a file that :func:`write` wrote.

    Raises:
        OSError: the file cannot be read.
        ChecksFileError: it is not a checks file, is damaged, or has another version.
    """
    status = path.stat()
    return _read(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=16)
def _read(path: Path, changed: int, size: int) -> VisibleLab:
    """The file as it was at this time: check() reads it again only after a change."""
    try:
        tree = unpack(path.read_bytes(), LIMITS)
        if tree["version"] != VERSION:
            raise ChecksFileError(
                f"{path} has version {tree['version']}, but this attnlab reads version {VERSION}: "
                "take both from the same bundle"
            )
        return VisibleLab(tree["lab"], tuple(map(_exercise_from, tree["exercises"])))
    except ChecksFileError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ChecksFileError(
            f"{path} is not a checks file, or is damaged: copy it again from the lab's bundle"
        ) from error


def define(source: str, name: str) -> Callable[..., Any]:
    """The function `name` that a text from a checks file defines."""
    # The name of an imported module, because dataclasses look it up.
    namespace: dict[str, Any] = {"__name__": __name__}
    exec(compile(source, f"<check {name}>", "exec"), namespace)  # noqa: S102 - our own text
    function: Callable[..., Any] = namespace[name]
    return function


def _exercise_tree(exercise: VisibleExercise) -> dict[str, Any]:
    return {
        "name": exercise.name,
        "title": exercise.title,
        "points": float(exercise.points),
        "hidden_points": float(exercise.hidden_points),
        "checks": [_check_tree(exercise.name, check) for check in exercise.checks],
        "mistakes": [[known.name, known.advice, known.of] for known in exercise.mistakes],
        "forbids": list(exercise.forbids),
        "not_run_here": [[hidden.title, hidden.chained] for hidden in exercise.not_run_here],
        "names": list(exercise.names),
        "uses": list(exercise.uses),
        "kinds": list(exercise.kinds),
        "step": [exercise.step.number, exercise.step.title, exercise.step.minutes],
    }


def _check_tree(exercise: str, check: VisibleCheck) -> dict[str, Any]:
    prepared = check.prepared
    if prepared.hidden:
        raise ValueError(
            f"{exercise}: check {prepared.name} is hidden and must not be in a file for students"
        )
    if len(check.versions) != len(check.version_names):
        raise ValueError(f"{exercise}: check {prepared.name} needs one name for each version")
    return {
        "name": prepared.name,
        "title": prepared.title,
        "points": float(prepared.points),
        "judge": judge_to_json(prepared.judge),
        "expected": prepared.expected,
        **_mistake_trees(prepared),
        "about": prepared.about,
        "question": prepared.question,
        "source": check.source,
        "seed": check.seed,
        "versions": list(check.versions),
        "version_names": list(check.version_names),
    }


def _mistake_trees(prepared: PreparedCheck) -> dict[str, Any]:
    """What the mistakes answer, each answer once; most mistakes pass most checks."""
    groups: dict[bytes, tuple[list[str], Any]] = {}
    for name, seen in prepared.mistakes.items():
        groups.setdefault(pack(seen, LIMITS), ([], seen))[0].append(name)
    as_expected, _ = groups.pop(pack(prepared.expected, LIMITS), ([], None))
    return {"as_expected": as_expected, "mistakes": list(groups.values())}


def _exercise_from(tree: dict[str, Any]) -> VisibleExercise:
    return VisibleExercise(
        name=tree["name"],
        title=tree["title"],
        points=tree["points"],
        hidden_points=tree["hidden_points"],
        checks=tuple(map(_check_from, tree["checks"])),
        mistakes=tuple(KnownMistake(*known) for known in tree["mistakes"]),
        forbids=tuple(tree["forbids"]),
        not_run_here=tuple(NotRunHere(title, chained) for title, chained in tree["not_run_here"]),
        names=tuple(tree["names"]),
        uses=tuple(tree["uses"]),
        step=Step(*tree["step"]),
        kinds=tuple(tree["kinds"]),
    )


def _check_from(tree: dict[str, Any]) -> VisibleCheck:
    groups = [(tree["as_expected"], tree["expected"]), *tree["mistakes"]]
    prepared = PreparedCheck(
        name=tree["name"],
        title=tree["title"],
        points=tree["points"],
        hidden=False,
        judge=judge_from_json(tree["judge"]),
        expected=tree["expected"],
        mistakes={name: seen for names, seen in groups for name in names},
        about=tree["about"],
        question=tree["question"],
    )
    return VisibleCheck(
        prepared,
        tree["source"],
        tree["seed"],
        tuple(tree["versions"]),
        tuple(tree["version_names"]),
    )
