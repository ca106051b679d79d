"""The two functions that run in a worker process.

The command that hands out work imports this file, so the functions import torch only when they run,
in the worker. Tested in tests/gradekit/grading/test_result_keys.py (the command needs no torch) and
test_grade.py.
"""

from __future__ import annotations

from gradekit.grading.result_keys import ResultKeys
from gradekit.grading.task import GradedSubmission, GraderSpec, GradingTask


def grade_task(task: GradingTask) -> GradedSubmission:
    """Grade one submission with this process's grader, which stays warm for the next one.

    Raises:
        GraderError: the grader does not give the lab's own solution full marks.
    """
    from gradekit.grading.grader_cache import process_cache
    from gradekit.grading.worker import grade_submission

    with process_cache().lent(task.spec) as grader:
        return grade_submission(grader, task.submitted, task.asked, task.recorded)


def keys_of(spec: GraderSpec) -> ResultKeys:
    """The keys of a lab's results.

    Raises:
        CourseError, ExerciseError: the lab's files contradict each other.
    """
    from gradekit.grading.grader import LabGrader

    return LabGrader(spec).keys
