"""What an exercise is: its checks, known mistakes and right versions, and how they become texts.

An exercise file imports from here. LAYERS in docs/draw_architecture.py says what it may import.
Tested in tests/gradekit/exercise.
"""

from gradekit.exercise.clinic import Case
from gradekit.exercise.definition import SEVERAL, Exercise
from gradekit.exercise.trained import Band, ScoreBands
from gradekit.exercise.write_a_test import (
    FAILURES_CAUGHT,
    RESULTS_UNREAD,
    TUPLES_ASSERTED,
    WHICH_LINE_DECIDES,
    write_a_test,
)
from gradekit.exercise.written_answers import Errata, Item, Prediction, Predictions

__all__ = [
    "FAILURES_CAUGHT",
    "RESULTS_UNREAD",
    "SEVERAL",
    "TUPLES_ASSERTED",
    "WHICH_LINE_DECIDES",
    "Band",
    "Case",
    "Errata",
    "Exercise",
    "Item",
    "Prediction",
    "Predictions",
    "ScoreBands",
    "write_a_test",
]
