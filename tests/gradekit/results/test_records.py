"""Records as values: what they are written as, and the points that count in each state."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gradekit.results.records import (
    ExerciseResult,
    Record,
    State,
    SubmissionRecord,
    digest_of,
    points_that_count,
)
from tests.helpers.submissions import LAB, result

SCORES = {"softmax": 8.0, "entropy": None}


@pytest.mark.parametrize(
    ("state", "then"),
    [
        (State.GRADED, SCORES),
        (State.LATE, SCORES),
        (State.THEIRS, {"softmax": 0.0, "entropy": 0.0}),
        (State.OURS, {"softmax": None, "entropy": None}),
    ],
)
def test_the_points_that_count_in_each_state(state: State, then: dict[str, float | None]) -> None:
    assert points_that_count(state, SCORES) == then


def test_an_unknown_state_raises() -> None:
    lost: Any = "lost"
    with pytest.raises(AssertionError, match="lost"):
        points_that_count(lost, SCORES)
    with pytest.raises(ValueError, match="lost"):
        SubmissionRecord.from_json({"student": "ada", "lab": LAB, "digest": "d", "state": "lost"})


def test_a_failure_of_ours_has_no_points() -> None:
    assert result("softmax", 8, 8).earned == 8
    assert ExerciseResult("softmax", "Softmax", (), broken="no answer").earned is None


def test_records_are_read_as_they_were_written() -> None:
    record = Record("ada", LAB, "digest", "key", result("softmax", 3, 8, "Look at the axis."))
    assert Record.from_json(record.to_json()) == record
    submission = SubmissionRecord("ada", LAB, "digest", State.OURS, "why", ("odd",), {"a": "b"})
    submission = replace(submission, blank=("softmax", "entropy"))
    assert SubmissionRecord.from_json(submission.to_json()) == submission


def test_records_of_earlier_versions_are_read() -> None:
    values = SubmissionRecord("ada", LAB, "digest", State.GRADED).to_json()
    del values["blank"], values["notes"]
    assert SubmissionRecord.from_json(values).blank == ()


def test_a_digest_depends_on_where_a_part_ends() -> None:
    assert digest_of(b"ab", b"c") != digest_of(b"a", b"bc")
