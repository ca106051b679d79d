"""A class of any size whose misconceptions are known, put together from records: no code is run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from gradekit.course import Course, load_course
from gradekit.gradebook.address import address_of
from gradekit.gradebook.entry import entry_of
from gradekit.gradebook.gradebook import Book
from gradekit.results.folder import journal_path
from gradekit.results.journal import Journal
from gradekit.results.records import CheckResult, ExerciseResult, State, SubmissionRecord
from gradekit.submissions.released import Released
from tests.helpers.small_course import PROJECT

LAB, NOTEBOOK = "lab01", "lab01_softmax"
QUESTION = "explain"
COURSE = """\
[course]
name = "Transformers from scratch"
timezone = "Europe/Zurich"

[late]
percent_per_day = 10
last_day = 2

[[lab]]
id = "lab01"
title = "Softmax, cross-entropy and a first attention"
release = 2026-09-14T08:00:00
due = 2026-09-18
"""
ON_TIME, LATE = "2026-09-18T10:00:00+00:00", "2026-09-19T10:00:00+00:00"
SECTIONS = ("Mon", "Tue", "Wed")
GENERAL = "“Keeps its promises”: every entry differs, the first at index (0, 0)."


@dataclass(frozen=True)
class Planted:
    """What the next `students` of the class did in one step.

    Attributes:
        mistake: the name of the known mistake; several, if the judge cannot tell which; none for a
            step that was left out or that is wrong in a way that is not known.
        advice: what they are told.
        visible: whether the visible check, worth half of the points, is passed.
        left_out: whether they wrote nothing.
        code: what is in their cell.
    """

    step: str
    students: int
    mistake: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    visible: bool = False
    left_out: bool = False
    code: str = ""


PLANTED = (
    Planted(
        "softmax", 41, ("no_max_subtraction",),
        ("exp of a large score overflows to infinity. What can you subtract from a whole row "
         "without changing its softmax?",), True,
        code="def softmax(x, dim=-1):\n    e = x.exp()\n    return e / e.sum(dim, keepdim=True)",
    ),
    Planted("softmax", 17, ("always_first_axis",), ("You sum along the first axis.",)),
    Planted(
        "cross_entropy", 63, ("double_softmax",),
        ("You apply softmax twice: once to the logits, and again inside the logarithm. What does "
         "`log_softmax` expect, scores or probabilities?",),
    ),
    Planted(
        "cross_entropy", 9, ("sum_for_mean", "mean_of_means"),
        (
            "At least one of these: (1) You return the sum. (2) You take the mean of several "
            "means.",
        ),
        True,
    ),
    Planted("cross_entropy", 12, (), (), True),
    Planted("temperature", 30, left_out=True),
    Planted(
        "softmax_backward", 8, ("forward_again", "no_sum"),
        ("You return the softmax itself.", "You leave out the sum over the row."),
    ),
)  # fmt: skip


def write_class(
    root: Path, size: int, planted: Sequence[Planted] = PLANTED, *, with_code: bool = False
) -> Course:
    """A course in `root` with `size` students; every tenth is late, and the last two are missing.

    Each entry of `planted` is about the next students of the class; the first students follow
    again after the last. A student may so get several entries.
    """
    root.mkdir(parents=True, exist_ok=True)
    (root / "course.toml").write_text(COURSE)
    folder = root / "labs" / LAB
    folder.mkdir(parents=True)
    shutil.copy(PROJECT / "labs" / LAB / f"{NOTEBOOK}.ipynb", folder)
    names = [f"s{number:03}" for number in range(size)]
    lines = [f"{n},Given{n} Family{n},{SECTIONS[i % 3]}" for i, n in enumerate(names)]
    (root / "students.csv").write_text("\n".join(["id,name,section", *lines]) + "\n")
    course = load_course(root)
    released = Released.read(course.released(LAB))
    did = _who_did(names[:-2], planted)
    with Book(address_of(course)) as book, Journal(journal_path(course, LAB)) as journal:
        book.register(LAB, released, course.lab(LAB).due)
        for number, student in enumerate(names[:-2]):
            results = results_of(released, did[student])
            blank = tuple(one.step for one in did[student].values() if one.left_out)
            when = LATE if number % 10 == 9 else ON_TIME
            record = SubmissionRecord(
                student, LAB, "digest", State.GRADED, "", (), {QUESTION: "d"}, when, 1.5, blank
            )
            keys = {result.exercise: f"{student} {result.exercise}" for result in results}
            journal.append_graded(record, results, keys)
            scores = {result.exercise: result.earned for result in results}
            book.write(entry_of(course, record, datetime.fromisoformat(when), scores))
            if with_code:
                _write_code(root, student, released, did[student])
    return course


def results_of(released: Released, did: Mapping[str, Planted]) -> list[ExerciseResult]:
    """What the judge says: every step right, but for what the student did."""
    return [_result(step.exercise, step.points, did.get(step.exercise)) for step in released.tests]


def _who_did(names: Sequence[str], planted: Sequence[Planted]) -> dict[str, dict[str, Planted]]:
    did: dict[str, dict[str, Planted]] = {name: {} for name in names}
    start = 0
    for one in planted:
        for number in range(start, start + one.students):
            chosen = did[names[number % len(names)]]
            assert one.step not in chosen, "a student would do two things in one step"
            chosen[one.step] = one
        start += one.students
    return did


def _result(step: str, points: float, did: Planted | None) -> ExerciseResult:
    half = points / 2
    visible, hidden = (did is None or did.visible), did is None
    checks = (
        CheckResult("visible", "Keeps its shape.", False, half * visible, half, visible),
        CheckResult("hidden", "Keeps its promises.", True, half * hidden, half, hidden),
    )
    advice = () if did is None else (*did.advice, GENERAL)
    mistakes = did.mistake if did else ()
    return ExerciseResult(step, f"{step}: a step", checks, advice, mistakes, 0.1, names=(step,))


def _write_code(root: Path, student: str, released: Released, did: Mapping[str, Planted]) -> None:
    cells = [
        {
            "cell_type": "code",
            "metadata": {"nbgrader": {"grade_id": one.step}},
            "source": one.code.splitlines(keepends=True),
        }
        for one in did.values()
        if one.code
    ]
    folder = root / "autograded" / student / LAB
    folder.mkdir(parents=True)
    (folder / f"{released.name}.ipynb").write_text(json.dumps({"cells": cells}))
