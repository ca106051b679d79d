"""The two functions that run in a worker process.

The command that hands out work imports this file, so what takes time (torch) is imported in the
functions, in the worker.
"""

from __future__ import annotations

from gradekit.grading.result_keys import ResultKeys
from gradekit.grading.task import GradedSubmission, GraderSpec, GradingTask


def grade_task(task: GradingTask) -> GradedSubmission:
    """Grade one hand-in in this process; see :func:`gradekit.grading.worker.grade_one`."""
    from gradekit.grading.worker import grade_one

    return grade_one(task)


def keys_of(spec: GraderSpec) -> ResultKeys:
    """What the results of a lab are filed under.

    Raises:
        CourseError, ExerciseError: the lab's files contradict themselves.
    """
    from gradekit.grading.grader import LabGrader

    return LabGrader(spec).keys
