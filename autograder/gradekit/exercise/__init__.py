"""What an exercise is: its checks, known mistakes and right versions, and how they travel as text.

An exercise file imports all that it needs from here. May import `submissions`, `results` and
`untrusted`. Tested in tests/gradekit/exercise.
"""

from gradekit.exercise.definition import BadExercise, Exercise
from gradekit.exercise.trained import Band, Outcome

__all__ = ["BadExercise", "Band", "Exercise", "Outcome"]
