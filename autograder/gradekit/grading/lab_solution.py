"""The lab's own solution, graded before any student's: if it fails there, the grader is wrong.

Tested in tests/gradekit/grading/test_grader_cache.py, test_saved_weights.py and test_grade.py.
"""

from __future__ import annotations

from gradekit.course import SOLVED
from gradekit.errors import GraderError
from gradekit.grading.grader import LabGrader
from gradekit.results.records import digest_of
from gradekit.submissions.folder import SubmittedFiles
from gradekit.submissions.submission import read_submission


def check_lab_solution(grader: LabGrader) -> None:
    """Grade the lab's own solution, which must earn all points.

    Raises:
        GraderError: it earns less.
    """
    course, lab = grader.spec.course, grader.spec.lab
    name = f"{grader.released.name}.ipynb"
    text = (course.root / SOLVED / lab / name).read_bytes()
    files = {name: text, **saved_files(grader)}
    submitted = SubmittedFiles("", lab, files, dict.fromkeys(files, 0.0), (), digest_of(text), None)
    graded = grader.grade(read_submission(submitted, grader.released))
    short = [result for result in graded.results if result.earned != result.points]
    if graded.broken or short:
        why = graded.broken or "; ".join(
            f"{result.exercise} earns {result.earned:g} of {result.points:g} ({result.advice[-1]})"
            for result in short
        )
        raise GraderError(
            f"{SOLVED}/{lab}/{name} should earn all points, but {why}; run `lab build {lab}` and "
            f"`lab verify {lab}`; until this is fixed, no hand-in is graded"
        )


def saved_files(grader: LabGrader) -> dict[str, bytes]:
    """The files of weights that the lab's own solution saves."""
    return {
        path.name: path.read_bytes()
        for exercise in grader.exercises.exercises
        for path in exercise.saved_paths
    }
