"""Two hostile students in a class of ten change nothing for the other eight, and gain nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from demo.classroom import LAB, classroom
from demo.comparison import scores_in_book
from demo.course_folder import SMALL_LIMITS, copy_course
from demo.graded import grade_class
from demo.submission import DemoSubmission
from gradekit.course import Course, load_course

pytestmark = pytest.mark.timeout(600)

EIGHT = ("noether", "ada", "m02", "m08", "half", "untouched", "warner", "torn")
TWO = ("vandal", "patcher")


@pytest.fixture(scope="module")
def ten(built_course: Course) -> Mapping[str, DemoSubmission]:
    """The ten; the hostile ones have names that come first in the list."""
    known = {submission.student: submission for submission in classroom(built_course)}
    eight = {student: known[student] for student in EIGHT}
    two = [replace(known[student], student=f"0-{student}") for student in TWO]
    return {submission.student: submission for submission in two} | eight


@pytest.fixture(scope="module")
def with_hostile(
    tmp_path_factory: pytest.TempPathFactory, ten: Mapping[str, DemoSubmission]
) -> Course:
    return _graded(tmp_path_factory.mktemp("ten"), list(ten.values()))


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory, ten: Mapping[str, DemoSubmission]) -> Course:
    return _graded(tmp_path_factory.mktemp("eight"), [ten[student] for student in EIGHT])


def test_the_others_records_are_the_same(with_hostile: Course, alone: Course) -> None:
    together, by_themselves = _records(with_hostile), _records(alone)
    assert {student for student, _ in by_themselves} == set(EIGHT)
    assert {key: r for key, r in together.items() if key[0] in EIGHT} == by_themselves


def test_the_others_notebooks_are_the_same(with_hostile: Course, alone: Course) -> None:
    for student in EIGHT:
        (here,) = (with_hostile.root / "autograded" / student / LAB).glob("*.ipynb")
        (there,) = (alone.root / "autograded" / student / LAB).glob("*.ipynb")
        assert here.read_bytes() == there.read_bytes()


def test_the_hostile_gain_nothing(with_hostile: Course, alone: Course) -> None:
    scores, others = scores_in_book(with_hostile, LAB), scores_in_book(alone, LAB)
    assert scores == others | {f"0-{student}": 0.0 for student in TWO}
    assert scores["noether"] == 96


def test_nothing_was_written_to_the_folder_of_hand_ins(
    with_hostile: Course, ten: Mapping[str, DemoSubmission]
) -> None:
    submitted = with_hostile.root / "submitted"
    found = {
        str(path.relative_to(submitted)): path.read_bytes()
        for path in submitted.rglob("*")
        if path.is_file()
    }
    assert found == {
        f"{student}/{LAB}/{name}": data
        for student, submission in ten.items()
        for name, data in submission.files.items()
    }


def _graded(folder: Path, submissions: Sequence[DemoSubmission]) -> Course:
    course = load_course(copy_course(folder / "course", SMALL_LIMITS))
    secret = course.root / "results" / "secret"
    secret.parent.mkdir()
    secret.write_bytes(b"the same hidden inputs in both classes")
    grade_class(course, submissions)
    return course


def _records(course: Course) -> dict[tuple[str, str], dict[str, Any]]:
    """The journal's records by student and exercise, without their times."""
    lines = (course.root / "results" / f"{LAB}.jsonl").read_text("utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    return {
        (record["student"], record.get("exercise", "")): {
            key: value for key, value in record.items() if key != "seconds"
        }
        for record in records
        if record["kind"] in ("exercise", "submission")
    }
