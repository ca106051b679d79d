"""Reasons that predictions and errata lack; marks and points are in test_new and in
tests/gradekit/exercise/test_authoring_errors.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradekit.build.unfinished import disagreements, points_of, to_fill_in
from gradekit.course import load_course
from gradekit.exercise.loader import LabExercises, load_lab
from gradekit.exercise.written_answers import Prediction, Predictions

ROOT = Path(__file__).resolve().parents[3]
REAL = load_course(ROOT)


def test_a_prediction_without_a_reason_is_told() -> None:
    items = {
        "P1": Prediction("One.", points=1, right=1.0, reason="Because one is one."),
        "P2": Prediction("Two.", points=1, right=2.0),
    }
    exercise = Predictions(items, answered="Each has a number.")
    exercise.path = Path(__file__)
    assert list(to_fill_in(exercise)) == [
        "test_unfinished.py: P2 has no reason; write one sentence why"
    ]


@pytest.mark.parametrize("errata", [True, False])
def test_the_points_of_a_course_without_errata_still_add_up(errata: bool) -> None:
    about = REAL.values.course.model_copy(update={"errata": errata})
    course = REAL.model_copy(update={"values": REAL.values.model_copy(update={"course": about})})
    lab: LabExercises = load_lab(course, "lab03")
    assert bool(lab.left_out) != errata
    assert points_of(lab) == 100
    assert list(disagreements(course, lab)) == []
