"""`lab grade` on every lab: what its results are filed under, and all points for its solution."""

from __future__ import annotations

import pytest

from demo.classroom import material_of
from demo.course_folder import copy_course
from gradekit.course import Course, load_course
from gradekit.grading.grade import Settings, grade_lab
from gradekit.grading.grader import LabGrader
from gradekit.grading.task import GraderSpec
from gradekit.grading.view import progress_bar
from gradekit.results.records import State
from gradekit.submissions.folder import SUBMITTED
from tests.helpers.our_labs import OUR_LABS

LABS = OUR_LABS


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return load_course(copy_course(tmp_path_factory.mktemp("graded") / "course"))


@pytest.mark.parametrize("lab", LABS)
def test_every_result_has_a_key_of_its_own(lab: str, course: Course) -> None:
    with LabGrader(GraderSpec(course, lab, "auto", b"a secret")) as grader:
        keys = grader.keys.of("ada", "digest")
        assert list(keys) == [exercise.name for exercise in grader.exercises.exercises]
    assert len(set(keys.values())) == len(keys)


@pytest.mark.slow  # a minute a lab, for some of them train
@pytest.mark.parametrize("lab", LABS)
def test_the_solution_of_every_lab_earns_all_points(lab: str, course: Course) -> None:
    folder = course.root / SUBMITTED / "ada" / lab
    folder.mkdir(parents=True)
    room = material_of(course, lab)
    (folder / room.name).write_bytes(room.solved.bytes())
    with progress_bar(quiet=True) as progress:
        (row,) = grade_lab(course, lab, Settings(jobs=1), progress).rows
    assert (row.state, row.reason) == (State.GRADED, "")
    assert row.earned == row.points
