"""What an exercise is: its checks, known mistakes and right versions, and how they travel as text.

An exercise file imports all that it needs from here. May import `submissions`, `results` and
`untrusted`. Tested in tests/gradekit/exercise.
"""

from gradekit.exercise.definition import Exercise, ExerciseError
from gradekit.exercise.trained import Band, ScoreBands

__all__ = ["ExerciseError", "Band", "Exercise", "ScoreBands"]
